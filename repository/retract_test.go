package repository_test

import (
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"

	"github.com/webindexer/indexer/index"
	"github.com/webindexer/indexer/index/search"
	"github.com/webindexer/indexer/internal/testenv"
	"github.com/webindexer/indexer/observers/webtest"
	"github.com/webindexer/indexer/page"
	"github.com/webindexer/indexer/repository"
	"github.com/webindexer/indexer/schema"
	"github.com/webindexer/indexer/txn"
	"github.com/webindexer/indexer/verify/batch"
)

// TestRetract runs stories of content that pages first had and then lost. The commands:
//
//	load           loads fetches (webtest.ParseFetch), lets everything come to rest, and
//	               shows the documents of the index files: rank, members, number of
//	               inlinks, and anchors with how many links have them
//	search WORDS   shows what is found
//	ranks          shows every URL whose rank is not that of nowhere: its links in and out
//	rows URL       shows the rows that the URL left in the table, by kind
//
// After each load, the repository is held against the batch, and against the count of
// URLs: each is in one cluster or in none. In the end the fetches of the story are loaded in
// other orders: they come to the same.
func TestRetract(t *testing.T) {
	rnd := testenv.Random(t)
	files, err := filepath.Glob("testdata/retract/*")
	if err != nil || len(files) == 0 {
		t.Fatalf("no stories: %v", err)
	}
	orders := testenv.Size(1, 2, 10)
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			s := &retraction{r: open(t, t.TempDir(), repository.Options{RankTolerance: 1e-6})}
			defer closeNow(t, s.r)
			datadriven.RunTest(t, file, s.do)
			if t.Failed() {
				return
			}
			want := digestOf(t, s.r)
			for range orders {
				other := open(t, t.TempDir(), repository.Options{RankTolerance: 1e-6, Workers: 1 + rnd.IntN(4)})
				load(t, other, 1+rnd.IntN(4), shuffled(rnd, s.fetches))
				wantSound(t, other, want)
				closeNow(t, other)
			}
		})
	}
}

type retraction struct {
	r       *repository.Repository
	fetches []page.Fetch
}

func (s *retraction) do(t *testing.T, d *datadriven.TestData) string {
	var out strings.Builder
	q := s.load(t, d)
	defer q.Close()
	switch d.Cmd {
	case "load":
		s.documents(t, q, &out)
	case "search":
		s.search(t, q, d, &out)
	case "ranks":
		s.ranks(t, q.Tx, &out)
	case "rows":
		s.rows(t, q.Tx, d, &out)
	default:
		d.Fatalf(t, "unknown command")
	}
	if out.Len() == 0 {
		return "nothing\n"
	}
	return out.String()
}

func words(d *datadriven.TestData) string {
	var list []string
	for _, a := range d.CmdArgs {
		list = append(list, a.String())
	}
	return strings.Join(list, " ")
}

// load loads what a command brings, and finds a quiet moment.
func (s *retraction) load(t *testing.T, d *datadriven.TestData) *repository.Quiet {
	if d.Cmd == "load" {
		fetches := fetchesOf(t, strings.Split(strings.TrimSpace(d.Input), "\n")...)
		s.fetches = append(s.fetches, fetches...)
		load(t, s.r, 2, fetches)
		mustVerify(t, s.r)
	}
	q, err := s.r.Quiet(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if d.Cmd == "load" {
		s.count(t, q.Tx)
	}
	return q
}

// count counts in how many clusters each URL is.
func (s *retraction) count(t *testing.T, tx *txn.Txn) {
	b := batch.New()
	for i := range s.fetches {
		b.Add(&s.fetches[i])
	}
	web, err := b.Solve(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	member := make(map[page.URL]int)
	scan(t, tx, schema.GroupMember, func(row string, _ []txn.Version) error {
		_, m, err := schema.ParseMemberRow(row)
		member[m.URL]++
		return err
	})
	for u := range web.URLs() {
		want := 0
		if u.Terminal != "" {
			want = 1
		}
		if member[u.URL] != want {
			t.Errorf("%s is in %d clusters, want %d", u.URL, member[u.URL], want)
		}
		delete(member, u.URL)
	}
	if len(member) > 0 {
		t.Errorf("members that nobody knows: %v", member)
	}
}

func scan(t *testing.T, tx *txn.Txn, group string, fn func(row string, cols []txn.Version) error) {
	t.Helper()
	if err := tx.Scan(t.Context(), group, "", "", fn); err != nil {
		t.Fatal(err)
	}
}

func (s *retraction) documents(t *testing.T, q *repository.Quiet, out *strings.Builder) {
	var lines []string
	err := q.Index.Documents(t.Context(), func(d index.Document) error {
		var b strings.Builder
		fmt.Fprintf(&b, "%s rank %.4f", webtest.Short(d.URL), d.Rank)
		for _, m := range d.Members {
			if m != d.URL {
				fmt.Fprintf(&b, ", also %s", webtest.Short(m))
			}
		}
		if d.Inlinks > 0 {
			fmt.Fprintf(&b, ", %d inlinks", d.Inlinks)
		}
		for _, a := range d.Anchors {
			fmt.Fprintf(&b, ", %q %d", a.Text, a.Count)
		}
		lines = append(lines, b.String()+"\n")
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	slices.Sort(lines)
	out.WriteString(strings.Join(lines, ""))
}

func (s *retraction) search(t *testing.T, q *repository.Quiet, d *datadriven.TestData, out *strings.Builder) {
	res, err := q.Index.(filesView).Search(t.Context(), words(d), search.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for _, h := range res.Hits {
		fmt.Fprintln(out, webtest.Short(h.URL))
	}
}

func (s *retraction) ranks(t *testing.T, tx *txn.Txn, out *strings.Builder) {
	scan(t, tx, schema.GroupRank, func(row string, cols []txn.Version) error {
		u, err := schema.ParseURLRow(row)
		if err != nil {
			return err
		}
		for _, c := range cols {
			switch c.Name {
			case schema.RankState.Name:
				m, err := schema.DecodeRankState(c.Data)
				if err != nil {
					return err
				}
				fmt.Fprintf(out, "%s %.4f, %d in, %d out\n", webtest.Short(u), math.Round(m.Rank*1e4)/1e4, m.Inlinks, m.Out)
			case schema.Edges.Name:
			default:
				fmt.Fprintf(out, "%s: %s is left over\n", webtest.Short(u), c.Name)
			}
		}
		return nil
	})
}

func (s *retraction) rows(t *testing.T, tx *txn.Txn, d *datadriven.TestData, out *strings.Builder) {
	u, err := webtest.Long(words(d))
	if err != nil {
		t.Fatal(err)
	}
	count := make(map[string]int)
	for _, group := range schema.Groups() {
		scan(t, tx, group, func(row string, cols []txn.Version) error {
			for _, c := range cols {
				if what := mentions(row, u); what != "" {
					count[group+":"+c.Name+what]++
				}
			}
			return nil
		})
	}
	var lines []string
	for what, n := range count {
		lines = append(lines, fmt.Sprintf("%s: %d\n", what, n))
	}
	slices.Sort(lines)
	out.WriteString(strings.Join(lines, ""))
}

// mentions returns the relation of a row to a URL, "" if there is none.
func mentions(row string, u page.URL) string {
	if row == schema.URLRow(u) {
		return " of it"
	}
	if target, source, err := schema.ParsePairRow(row); err == nil {
		switch u {
		case source:
			return " from it"
		case target:
			return " to it"
		}
	}
	if _, m, err := schema.ParseMemberRow(row); err == nil && m.URL == u {
		return " of it"
	}
	return ""
}
