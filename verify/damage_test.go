package verify

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/webindexer/indexer/index"
	"github.com/webindexer/indexer/observers/webtest"
	"github.com/webindexer/indexer/page"
	"github.com/webindexer/indexer/repository"
	"github.com/webindexer/indexer/schema"
	"github.com/webindexer/indexer/txn"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// fixture is a small settled web, in a table in memory and real index files.
type fixture struct {
	t     *testing.T
	rig   *webtest.Rig
	files *index.Writer
	dir   string
	parts int
}

const fixtureWeb = `
a.example/x at=1 page text=alpha title=X lang=en link=a.example/y,why link=a.example/r,are frame=a.example/f
a.example/y at=1 page text=beta title=Y lang=en
a.example/twin at=1 page text=beta title=Y lang=en canonical=a.example/y
a.example/r at=1 redirect=a.example/y
a.example/z at=1 page text=gamma title=Z noindex
a.example/f at=1 failed
a.example/favicon.ico at=1 icon=10
`

func newFixture(t *testing.T) *fixture {
	t.Helper()
	return fixtureOf(t, fixtureWeb, webtest.Options{})
}

func fixtureOf(t *testing.T, web string, opts webtest.Options) *fixture {
	t.Helper()
	f := &fixture{t: t, dir: t.TempDir()}
	var err error
	if f.files, err = index.OpenWriter(t.Context(), f.dir, index.WriterOptions{}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.must(f.files.Close()) })
	opts.Sink, opts.Tolerance = f.files, 0.001
	f.rig, err = webtest.Open(t.Context(), opts)
	f.must(err)
	t.Cleanup(func() { f.must(f.rig.Close()) })
	for line := range strings.Lines(strings.TrimSpace(web)) {
		fetch, err := webtest.ParseFetch(line)
		f.must(err)
		_, err = f.rig.Load(t.Context(), fetch)
		f.must(err)
	}
	f.must(f.rig.Quiesce(t.Context(), nil))
	return f
}

// editRankState changes the rank state of a URL.
func (f *fixture) editRankState(row string, change func(*schema.StoredRankState)) {
	f.t.Helper()
	edit(f, row, schema.RankState, schema.DecodeRankState, schema.StoredRankState.Encode, change)
}

// passOn edits the rank states as if x had passed on so much more than it has, half of it to each target.
func (f *fixture) passOn(more float64) {
	f.t.Helper()
	f.editRankState(rowX, func(m *schema.StoredRankState) { m.Pushed += more })
	for _, row := range []string{schema.URLRow(urlR), rowY} {
		f.editRankState(row, func(m *schema.StoredRankState) { m.In += more / 2 })
	}
}

func (f *fixture) must(err error) {
	f.t.Helper()
	if err != nil {
		f.t.Fatal(err)
	}
}

// verify returns the differences, one per line.
func (f *fixture) verify() ([]string, error) {
	ctx := context.Background()
	reader, err := index.OpenReader(f.dir)
	f.must(err)
	defer reader.Close()
	view, err := reader.Snapshot(ctx)
	f.must(err)
	defer view.Close()
	tx, err := f.rig.DB.Begin(ctx)
	f.must(err)
	defer tx.Rollback()
	rep, err := compare(ctx, &repository.Quiet{DB: f.rig.DB, Tx: tx, Index: view}, f.parts, func(string, ...any) {})
	if err != nil {
		return nil, err
	}
	if rep.Total != len(rep.Differences) || rep.SnapshotTS != tx.Start() {
		f.t.Errorf("%d of %d differences at %d", len(rep.Differences), rep.Total, rep.SnapshotTS)
	}
	var lines []string
	for _, d := range rep.Differences {
		lines = append(lines, d.String())
	}
	return lines, nil
}

// set writes a cell; nil deletes it. All observers have seen it.
func (f *fixture) set(row string, c txn.Column, value []byte) {
	f.t.Helper()
	f.must(f.rig.Tamper(f.t.Context(), func(tx *txn.Txn) error {
		if value == nil {
			tx.Delete(row, c)
		} else {
			tx.Set(row, c, value)
		}
		return nil
	}))
	f.must(f.rig.Acknowledge(f.t.Context(), txn.Cell{Row: row, Column: c}))
	switch c { // this shows that document has done the work at once (observers.DoneAtOnce)
	case schema.Chain:
		f.must(f.rig.Acknowledge(f.t.Context(), txn.Cell{Row: row, Column: schema.State}))
	case schema.Inverted:
		f.must(f.rig.Acknowledge(f.t.Context(), txn.Cell{Row: row, Column: schema.Links}))
	}
}

func (f *fixture) get(row string, c txn.Column) []byte {
	f.t.Helper()
	tx, err := f.rig.DB.Begin(f.t.Context())
	f.must(err)
	defer tx.Rollback()
	v, err := tx.Get(f.t.Context(), row, c)
	f.must(err)
	return slices.Clone(v.Data)
}

// edit decodes a cell, changes the value and writes it back.
func edit[T any](f *fixture, row string, c txn.Column, decode func([]byte) (T, error), encode func(T) []byte, change func(*T)) {
	f.t.Helper()
	v, err := decode(f.get(row, c))
	f.must(err)
	change(&v)
	f.set(row, c, encode(v))
}

// editFile changes the document of y in the index files.
func (f *fixture) editFile(change func(*index.Document)) {
	f.t.Helper()
	f.editFileOf(urlY, func(c *index.Change) { change(c.Doc) })
}

// editFileOf changes what the index files have of a URL.
func (f *fixture) editFileOf(u page.URL, change func(*index.Change)) {
	f.t.Helper()
	reader, err := index.OpenReader(f.dir)
	f.must(err)
	defer reader.Close()
	d, found, err := reader.Document(f.t.Context(), string(u))
	if err != nil || !found {
		f.t.Fatal(found, err)
	}
	d.Seq += 1 << 40
	c := index.Upsert(&d)
	change(&c)
	f.must(f.files.Apply(f.t.Context(), []index.Change{c}))
}

const (
	urlX    page.URL = "https://a.example/x"
	urlY    page.URL = "https://a.example/y"
	urlTwin page.URL = "https://a.example/twin"
	urlR    page.URL = "https://a.example/r"
	urlZ    page.URL = "https://a.example/z"
	urlNew  page.URL = "https://a.example/new"
	urlIcon page.URL = "https://a.example/favicon.ico"
)

var rowX, rowY, rowZ, rowNew, rowIcon = schema.URLRow(urlX), schema.URLRow(urlY), schema.URLRow(urlZ), schema.URLRow(urlNew), schema.URLRow(urlIcon)

func (f *fixture) keyOf(row string) page.ContentKey {
	s, err := schema.DecodeURLState(f.get(row, schema.State))
	f.must(err)
	return s.Key
}

func (f *fixture) member(u page.URL, eligible bool) string {
	return schema.MemberRow(f.keyOf(rowY), schema.MemberInfo{URL: u, Eligible: eligible})
}

// oneMain is the outline of a text whose first byte is its main part.
var oneMain = (&page.Outline{Main: []page.Range{{Start: 0, End: 1}}}).Encode()

// damages are changes of the fixture, with the exact differences that verify must
// report: each as "table row column". KEY means the cluster of y, NONE that of z, which
// is not in the index.
var damages = []struct {
	name string
	do   func(*fixture)
	want []string
}{
	{"nothing", func(*fixture) {}, nil},
	{"outcome", func(f *fixture) {
		edit(f, rowY, schema.State, schema.DecodeURLState, schema.URLState.Encode, func(s *schema.URLState) { s.NoFollow = true })
	}, []string{"url https://a.example/y state"}},
	{"another icon", func(f *fixture) { f.set(rowIcon, schema.IconImage, []byte("x")) },
		[]string{"body https://a.example/favicon.ico icon (digest)"}},
	{"icon without an image", func(f *fixture) { f.set(rowIcon, schema.IconImage, nil) },
		[]string{"body https://a.example/favicon.ico icon (digest)"}},
	{"icon of an earlier fetch", func(f *fixture) { f.set(rowIcon, schema.Icon, make([]byte, 32)) },
		[]string{"icon https://a.example/favicon.ico sum", "body https://a.example/favicon.ico icon (digest)"}},
	{"icon of nothing", func(f *fixture) { f.set(rowNew, schema.Icon, f.get(rowIcon, schema.Icon)) },
		[]string{"icon https://a.example/new sum", "body https://a.example/new icon (digest)"}},
	{"no icon", func(f *fixture) { f.set(rowIcon, schema.Icon, nil) }, nil},
	{"square image of nothing", func(f *fixture) { f.set(rowNew, schema.SquareImage, f.get(rowIcon, schema.Icon)) },
		[]string{"icon https://a.example/new square", "body https://a.example/new icon (digest)"}},
	{"icon of both kinds", func(f *fixture) { f.set(rowIcon, schema.SquareImage, f.get(rowIcon, schema.Icon)) },
		[]string{"icon https://a.example/favicon.ico sum"}},
	{"state gone", func(f *fixture) { f.set(rowY, schema.State, nil) }, []string{"url https://a.example/y state"}},
	{"nothing but the fetch", func(f *fixture) {
		for _, c := range []txn.Column{schema.State, schema.Chain} {
			f.set(rowZ, c, nil)
		}
	}, []string{"url https://a.example/z state"}},
	{"state of nothing", func(f *fixture) {
		f.set(rowNew, schema.State, schema.URLState{Outcome: page.Gone}.Encode())
	}, []string{"url https://a.example/new state"}},
	{"walk gone", func(f *fixture) { f.set(rowY, schema.Chain, nil) },
		[]string{"url https://a.example/y walk (terminal)", "url https://a.example/y walk (cluster)"}},
	{"walk elsewhere", func(f *fixture) {
		edit(f, rowX, schema.Chain, schema.DecodeChain, schema.StoredChain.Encode, func(w *schema.StoredChain) { (*w)[0].Key[0]++ })
	}, []string{"url https://a.example/x walk (cluster)"}},
	{"walk longer", func(f *fixture) {
		edit(f, rowX, schema.Chain, schema.DecodeChain, schema.StoredChain.Encode, func(w *schema.StoredChain) { *w = append(*w, (*w)[0]) })
	}, []string{"url https://a.example/x walk (leads to)"}},
	{"pending", func(f *fixture) { f.set(rowX, schema.Pending, schema.EncodeURLs([]page.URL{urlY})) },
		[]string{"url https://a.example/x pending"}},
	{"inversion", func(f *fixture) { f.set(rowX, schema.Inversion, schema.StoredInversion{Links: 1}.Encode()) },
		[]string{"url https://a.example/x inversion"}},
	{"spread", func(f *fixture) { f.set(rowX, schema.Propagated, schema.StoredPropagation{Chain: 1}.Encode()) },
		[]string{"url https://a.example/x spread"}},
	{"title", func(f *fixture) {
		edit(f, rowX, schema.Text, schema.DecodeText, schema.StoredText.Encode, func(s *schema.StoredText) { s.Title = "W" })
	}, []string{"doc https://a.example/x text (title)"}},
	{"text", func(f *fixture) {
		edit(f, rowX, schema.Text, schema.DecodeText, schema.StoredText.Encode, func(s *schema.StoredText) { s.Text += "." })
	}, []string{"doc https://a.example/x text (text)"}},
	{"title in the text", func(f *fixture) {
		edit(f, rowX, schema.Text, schema.DecodeText, schema.StoredText.Encode, func(s *schema.StoredText) { s.Title, s.Text = "", s.Title+s.Text })
	}, []string{"doc https://a.example/x text (title)", "doc https://a.example/x text (text)"}},
	{"language", func(f *fixture) {
		edit(f, rowX, schema.Text, schema.DecodeText, schema.StoredText.Encode, func(s *schema.StoredText) { s.Language = "de" })
	}, []string{"doc https://a.example/x text (language)"}},
	{"outline", func(f *fixture) {
		edit(f, rowX, schema.Text, schema.DecodeText, schema.StoredText.Encode, func(s *schema.StoredText) { s.Outline = oneMain })
	}, []string{"doc https://a.example/x text (outline)"}},
	{"text gone", func(f *fixture) { f.set(rowX, schema.Text, nil) }, []string{"doc https://a.example/x text"}},
	{"text of nothing", func(f *fixture) { f.set(rowNew, schema.Text, schema.StoredText{Title: "N"}.Encode()) },
		[]string{"doc https://a.example/new text"}},
	{"links said", func(f *fixture) {
		edit(f, rowX, schema.Links, schema.DecodeLinks, schema.EncodeLinks, func(g *[]schema.TargetLinks) { *g = (*g)[:1] })
	}, []string{"doc https://a.example/x links"}},
	{"frames gone", func(f *fixture) { f.set(rowX, schema.Frames, nil) }, []string{"doc https://a.example/x frames"}},
	{"frames of another page", func(f *fixture) { f.set(rowY, schema.Frames, schema.EncodeURLs([]page.URL{urlX})) }, []string{"doc https://a.example/y frames"}},
	{"part of links of nothing", func(f *fixture) {
		f.set(rowX, schema.Part(schema.Inverted, 2), schema.EncodeLinks(nil))
	}, []string{"doc https://a.example/x inverted/000002"}},
	{"part of edges of nothing", func(f *fixture) { f.set(rowX, schema.Part(schema.Edges, 2), schema.StoredEdges{}.Encode()) },
		[]string{"rank https://a.example/x edges/000002"}},
	{"part of anchors of nothing", func(f *fixture) {
		f.set(schema.PairRow(urlY, urlX), schema.Part(schema.Anchors, 2), schema.EncodeAnchors([]string{"no"}))
	}, []string{"link https://a.example/x -> https://a.example/y a/000002"}},
	{"inversion left over", func(f *fixture) {
		f.set(rowX, schema.Inverting, schema.EncodeLinks([]schema.TargetLinks{{Target: urlY, Anchors: []string{"a"}}}))
	}, []string{"doc https://a.example/x inverting"}},
	{"links inverted gone", func(f *fixture) { f.set(rowX, schema.Inverted, nil) }, []string{"doc https://a.example/x inverted"}},
	{"links said gone", func(f *fixture) { f.set(rowX, schema.Links, nil) }, []string{"doc https://a.example/x links"}},
	{"links inverted", func(f *fixture) {
		edit(f, rowX, schema.Inverted, schema.DecodeLinks, schema.EncodeLinks, func(g *[]schema.TargetLinks) { (*g)[0].Anchors[0] = "?" })
	}, []string{"doc https://a.example/x inverted"}},
	{"links inverted of nothing", func(f *fixture) {
		f.set(rowY, schema.Inverted, schema.EncodeLinks([]schema.TargetLinks{{Target: urlX, Anchors: []string{"a"}}}))
	}, []string{"doc https://a.example/y inverted"}},
	{"link row", func(f *fixture) {
		f.set(schema.PairRow(urlY, urlX), schema.Anchors, schema.EncodeAnchors([]string{"no"}))
	},
		[]string{"link https://a.example/x -> https://a.example/y a"}},
	{"link row gone", func(f *fixture) { f.set(schema.PairRow(urlY, urlX), schema.Anchors, nil) },
		[]string{"link https://a.example/x -> https://a.example/y a"}},
	{"link row of nothing", func(f *fixture) {
		f.set(schema.PairRow(urlX, urlZ), schema.Anchors, schema.EncodeAnchors([]string{"no"}))
	}, []string{"link https://a.example/z -> https://a.example/x a"}},
	{"link row of another target", func(f *fixture) {
		f.set(schema.PairRow(urlY, urlX), schema.Anchors, nil)
		f.set(schema.PairRow(urlZ, urlX), schema.Anchors, schema.EncodeAnchors([]string{"why"}))
	}, []string{"link https://a.example/x -> https://a.example/z a", "link https://a.example/x -> https://a.example/y a"}},
	{"lead row gone", func(f *fixture) { f.set(schema.PairRow(urlY, urlR), schema.Pointer, nil) },
		[]string{"lead https://a.example/r -> https://a.example/y x"}},
	{"lead row of nothing", func(f *fixture) { f.set(schema.PairRow(urlY, urlZ), schema.Pointer, []byte{}) },
		[]string{"lead https://a.example/z -> https://a.example/y x"}},
	{"member gone", func(f *fixture) { f.set(f.member(urlTwin, false), schema.Member, nil) }, []string{"member KEY https://a.example/twin"}},
	{"member of nothing", func(f *fixture) { f.set(f.member(urlNew, true), schema.Member, []byte{}) },
		[]string{"member KEY https://a.example/new"}},
	{"member's class", func(f *fixture) {
		f.set(f.member(urlTwin, false), schema.Member, nil)
		f.set(f.member(urlTwin, true), schema.Member, []byte{})
	}, []string{"member KEY https://a.example/twin", "member KEY https://a.example/twin"}},
	{"indexed URL", func(f *fixture) {
		edit(f, schema.ClusterRow(f.keyOf(rowY)), schema.Indexed, schema.DecodeIndexed, schema.StoredIndexed.Encode,
			func(d *schema.StoredIndexed) { d.URL = urlTwin })
	}, []string{"index KEY canonical"}},
	{"indexed numbers", func(f *fixture) {
		edit(f, schema.ClusterRow(f.keyOf(rowY)), schema.Indexed, schema.DecodeIndexed, schema.StoredIndexed.Encode,
			func(d *schema.StoredIndexed) { d.Members++; d.Inlinks++ })
	}, []string{"index KEY members", "index KEY inlinks"}},
	{"indexed gone", func(f *fixture) { f.set(schema.ClusterRow(f.keyOf(rowY)), schema.Indexed, nil) }, []string{"index KEY canonical"}},
	{"indexed of nothing", func(f *fixture) {
		f.set(schema.ClusterRow(f.keyOf(rowZ)), schema.Indexed, schema.StoredIndexed{URL: urlZ, Members: 1}.Encode())
	}, []string{"index NONE canonical"}},
	{"bytes of a body", func(f *fixture) {
		edit(f, rowX, schema.Body, schema.DecodeBody, schema.EncodeBody, func(b *[]byte) { *b = append(*b, "<!-- -->"...) })
	}, []string{"body https://a.example/x body (digest)"}},
	{"digest of a fetch", func(f *fixture) {
		edit(f, rowX, schema.FetchTime, schema.DecodeFetchStamp, schema.FetchStamp.Encode, func(s *schema.FetchStamp) { s.Sum[0]++ })
	}, []string{"fetch https://a.example/x time (body digest)"}},
	{"rank off by more than the tolerance", func(f *fixture) { f.editRankState(rowY, func(m *schema.StoredRankState) { m.Rank *= 1.0012 }) },
		[]string{"rank https://a.example/y mass (rank)"}},
	{"rank too low by more than the tolerance", func(f *fixture) { f.editRankState(rowY, func(m *schema.StoredRankState) { m.Rank *= 0.9988 }) },
		[]string{"rank https://a.example/y mass (rank)"}},
	{"rank off by less", func(f *fixture) { f.editRankState(rowY, func(m *schema.StoredRankState) { m.Rank *= 1.0003 }) }, nil},
	{"rank that came from nowhere", func(f *fixture) { f.editRankState(rowY, func(m *schema.StoredRankState) { m.In += 1e-6 }) },
		[]string{"rank https://a.example/y mass (in)"}},
	{"rank passed on and not received", func(f *fixture) { f.editRankState(rowX, func(m *schema.StoredRankState) { m.Pushed += 1e-6 }) },
		[]string{"rank https://a.example/r mass (in)", "rank https://a.example/y mass (in)"}},
	{"rank kept", func(f *fixture) { f.passOn(-0.0002) }, []string{"rank https://a.example/x mass (residual)"}},
	{"more rank passed on than there is", func(f *fixture) { f.passOn(0.0002) }, []string{"rank https://a.example/x mass (residual)"}},
	{"rank state of a target gone", func(f *fixture) { f.set(rowY, schema.RankState, nil) },
		[]string{"rank https://a.example/y mass", "rank https://a.example/y mass (rank)"}},
	{"rank of nobody", func(f *fixture) {
		f.set(schema.URLRow(urlNew), schema.RankState, schema.StoredRankState{Rank: 0.15}.Encode())
	},
		[]string{"rank https://a.example/new mass"}},
	{"rank gone", func(f *fixture) { f.set(rowX, schema.RankState, nil) },
		[]string{"rank https://a.example/r mass (in)", "rank https://a.example/y mass (in)"}},
	{"rank along no link", func(f *fixture) {
		edit(f, rowX, schema.Edges, schema.DecodeEdges, schema.StoredEdges.Encode, func(e *schema.StoredEdges) { e.Targets = e.Targets[:1] })
	}, []string{
		"rank https://a.example/x edges", "rank https://a.example/r mass (in)", "rank https://a.example/x mass (edges)",
		"rank https://a.example/y mass (inlinks)", "rank https://a.example/y mass (in)",
	}},
	{"rank along the link of nobody", func(f *fixture) {
		f.set(schema.URLRow(urlNew), schema.Edges, schema.StoredEdges{Targets: []string{rowY}}.Encode())
	}, []string{"rank https://a.example/new edges", "rank https://a.example/y mass (inlinks)"}},
	{"correction that nobody applies", func(f *fixture) { f.set(rowY, schema.Correction, schema.EncodeCorrection(1e-6)) },
		[]string{"rank https://a.example/y correction"}},
	{"journal that nobody posts", func(f *fixture) {
		f.set(schema.AppRow, schema.RankJournal, schema.StoredJournal{Parts: 1}.Encode())
		f.set(schema.JournalRow(0), schema.RankPart, schema.EncodeRankPart(nil))
	}, []string{`app "repository" rank-journal`, `app "rank-part 000000" rank-part`}},
	{"sum of the documents", func(f *fixture) {
		f.set(schema.AppRow, schema.IndexSum, schema.StoredIndexSum{Documents: 1, Sum: 2}.Encode())
	}, []string{`app repository index-sum`}},
	{"section of a small cluster", func(f *fixture) {
		f.set(schema.SummaryRow(f.keyOf(rowY), ""), schema.Summary, schema.StoredSummary{Members: 2}.Encode())
	}, []string{"section KEY x", "section KEY x"}},
	{"indexed rank", func(f *fixture) {
		edit(f, schema.ClusterRow(f.keyOf(rowY)), schema.Indexed, schema.DecodeIndexed, schema.StoredIndexed.Encode,
			func(d *schema.StoredIndexed) { d.Rank *= 1.01 })
	}, []string{"index KEY rank"}},
	{"file: title, language", func(f *fixture) { f.editFile(func(d *index.Document) { d.Title, d.Language = "W", "de" }) },
		[]string{"index files https://a.example/y title", "index files https://a.example/y language"}},
	{"file: text", func(f *fixture) { f.editFile(func(d *index.Document) { d.Text += " more" }) }, []string{"index files https://a.example/y text"}},
	{"file: outline", func(f *fixture) { f.editFile(func(d *index.Document) { d.Outline = oneMain }) }, []string{"index files https://a.example/y outline"}},
	{"file: members", func(f *fixture) { f.editFile(func(d *index.Document) { d.Members = d.Members[:1] }) },
		[]string{"index files https://a.example/y members"}},
	{"file: numbers", func(f *fixture) { f.editFile(func(d *index.Document) { d.MembersTotal++; d.Inlinks-- }) },
		[]string{"index files https://a.example/y members_total", "index files https://a.example/y inlinks"}},
	{"file: fetch time", func(f *fixture) { f.editFile(func(d *index.Document) { d.FetchedAt = d.FetchedAt.Add(time.Second) }) },
		[]string{"index files https://a.example/y fetched_at"}},
	{"file: anchors", func(f *fixture) { f.editFile(func(d *index.Document) { d.Anchors = nil }) }, []string{"index files https://a.example/y anchors"}},
	{"file: rank", func(f *fixture) { f.editFile(func(d *index.Document) { d.Rank = 1 }) }, []string{"index files https://a.example/y rank"}},
	{"file: URL", func(f *fixture) { f.editFile(func(d *index.Document) { d.URL = urlTwin }) }, []string{"index files https://a.example/y url"}},
	{"file gone", func(f *fixture) {
		f.must(f.files.Apply(f.t.Context(), []index.Change{index.Delete(f.keyOf(rowY), 1<<41)}))
	}, []string{"index files https://a.example/y document"}},
	{"file of nothing", func(f *fixture) {
		f.must(f.files.Apply(f.t.Context(), []index.Change{index.Upsert(&index.Document{URL: urlNew, Cluster: page.ContentKey{1}, Seq: 1 << 41})}))
	}, []string{"index files https://a.example/new document"}},
	{"written unseen", func(f *fixture) {
		state := f.get(rowX, schema.State)
		f.must(f.rig.Tamper(f.t.Context(), func(tx *txn.Txn) error { tx.Set(rowX, schema.State, state); return nil }))
	}, []string{"url https://a.example/x state (seen by cluster)"}},
	{"written again, unseen", func(f *fixture) {
		state := f.get(rowX, schema.State)
		f.set(rowX, schema.State, state)
		f.must(f.rig.Tamper(f.t.Context(), func(tx *txn.Txn) error { tx.Set(rowX, schema.State, state); return nil }))
	}, []string{"url https://a.example/x state (seen by cluster)"}},
	{"body gone", func(f *fixture) { f.set(rowZ, schema.Body, nil) }, []string{
		"body https://a.example/z body", "url https://a.example/z state", "url https://a.example/z walk (cluster)",
		"doc https://a.example/z text (title)", "doc https://a.example/z text (text)", "member NONE https://a.example/z", "member e3b0c44298fc https://a.example/z",
	}},
}

// TestDamage: each kind of damage is found, named by table, row and column, and
// nothing else is.
func TestDamage(t *testing.T) {
	for _, d := range damages {
		t.Run(d.name, func(t *testing.T) {
			f := newFixture(t)
			keys := strings.NewReplacer("KEY", short(f.keyOf(rowY)), "NONE", short(f.keyOf(rowZ)))
			d.do(f)
			got, err := f.verify()
			if err != nil {
				t.Fatal(err)
			}
			f.parts = 4
			if parts, err := f.verify(); err != nil || !slices.Equal(parts, got) {
				t.Errorf("in parts: %v, %q; want %q", err, parts, got)
			}
			if len(got) != len(d.want) {
				t.Errorf("%d differences, want %d", len(got), len(d.want))
			}
			for i, line := range got {
				if i >= len(d.want) || !strings.HasPrefix(line, keys.Replace(d.want[i])+": stored ") {
					t.Errorf("difference %q", line)
				}
			}
		})
	}
}
