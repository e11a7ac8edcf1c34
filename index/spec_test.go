package index

import (
	"errors"
	"fmt"
	"math"
	"reflect"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/cockroachdb/datadriven"

	"github.com/webindexer/indexer/index/search"
	"github.com/webindexer/indexer/page"
)

// TestSearchSpec runs testdata/spec. The commands work on one index per file:
//
//	apply                    a block per change: "doc CLUSTER seq=N url=URL [lang=] [rank=] [fetched=] [inlinks=]",
//	                         then "title: …", "text: …", "menu: …", "anchor: …", "member: …", "alternate: LANG URL";
//	                         or "delete CLUSTER seq=N"
//	touch URL TIME, ranks    the light updates
//	query [limit=] [offset=] [perhost=] [lang=] [sort=date] [verbatim] [unfold] [urls]
//	                         each line of the input is a query; "**" marks words in snippets
//	ranking [perhost=] [lang=]
//	                         the same, URLs only, with the factors of each score
//	similar URL [threshold=] [limit=]
//	docs                     all documents
//	tombstones               clusters that were deleted
func TestSearchSpec(t *testing.T) {
	datadriven.Walk(t, "testdata/spec", func(t *testing.T, path string) {
		s := &specIndex{t: t, names: map[page.ContentKey]string{}}
		s.dir = t.TempDir()
		s.w = openTestWriter(t, s.dir)
		s.r = openTestReader(t, s.dir)
		s.shards = newDivided(t, 3)
		datadriven.RunTest(t, path, s.run)
	})
}

type specIndex struct {
	t   *testing.T
	dir string
	w   *Writer
	r   *Reader
	// shards hold the same documents, and have to give the same results.
	shards *divided
	names  map[page.ContentKey]string
}

func (s *specIndex) run(t *testing.T, d *datadriven.TestData) string {
	out, err := s.command(d)
	if usage := (*search.UsageError)(nil); errors.As(err, &usage) {
		return "usage: " + usage.Reason + "\n"
	}
	if err != nil {
		return "error: " + strings.ReplaceAll(err.Error(), s.dir, "DIR") + "\n"
	}
	return out
}

func (s *specIndex) command(d *datadriven.TestData) (string, error) {
	switch d.Cmd {
	case "apply":
		list := s.changes(d)
		if err := s.w.Apply(s.t.Context(), list); err != nil {
			return "", err
		}
		s.shards.apply(s.t, list...)
		return "", nil
	case "touch":
		at, err := time.Parse(time.RFC3339, d.CmdArgs[2].Key)
		if err != nil {
			d.Fatalf(s.t, "%v", err)
		}
		touches := []Touch{{key(d.CmdArgs[0].Key), page.URL(d.CmdArgs[1].Key), at}}
		if _, err := s.shards.of(touches[0].Cluster).Touch(s.t.Context(), touches); err != nil {
			return "", err
		}
		missing, err := s.w.Touch(s.t.Context(), touches)
		return strings.Repeat("missing\n", len(missing)), err
	case "ranks":
		var list []RankUpdate
		for _, l := range lines(d.Input) {
			var name string
			var u RankUpdate
			if _, err := fmt.Sscanf(l, "%s seq=%d rank=%g", &name, &u.Seq, &u.Rank); err != nil {
				d.Fatalf(s.t, "%q: %v", l, err)
			}
			u.Cluster = key(name)
			list = append(list, u)
			if err := s.shards.of(u.Cluster).SetRanks(s.t.Context(), list[len(list)-1:]); err != nil {
				return "", err
			}
		}
		return "", s.w.SetRanks(s.t.Context(), list)
	case "prune":
		below, err := strconv.ParseUint(d.CmdArgs[0].Key, 10, 64)
		if err != nil {
			d.Fatalf(s.t, "%v", err)
		}
		return "", s.w.PruneTombstones(s.t.Context(), below)
	case "query":
		return s.query(d)
	case "ranking":
		return s.ranking(d)
	case "similar":
		return s.similar(d)
	case "docs":
		return s.docs()
	case "tombstones":
		return s.tombstones()
	}
	d.Fatalf(s.t, "unknown command %q", d.Cmd)
	return "", nil
}

func (s *specIndex) changes(d *datadriven.TestData) (list []Change) {
	for _, l := range lines(d.Input) {
		fields := strings.Fields(l)
		switch fields[0] {
		case "doc", "delete":
			c := Change{Cluster: key(fields[1])}
			s.names[c.Cluster] = fields[1]
			if fields[0] == "doc" {
				c.Doc = &Document{Cluster: c.Cluster}
			}
			for _, f := range fields[2:] {
				s.attribute(d, &c, f)
			}
			list = append(list, c)
		default:
			name, value, _ := strings.Cut(l, ": ")
			doc := list[len(list)-1].Doc
			switch name {
			case "title":
				doc.Title = value
			case "text":
				doc.Text = value
			case "anchor":
				doc.Anchors = append(doc.Anchors, Anchor{Text: value, Count: 1})
			case "outside":
				doc.Anchors = append(doc.Anchors, Anchor{Text: value, Count: 1, Others: 1})
			case "alternate":
				language, u, _ := strings.Cut(value, " ")
				o, err := page.DecodeOutline(doc.Outline, len(doc.Text))
				if err != nil {
					d.Fatalf(s.t, "%v", err)
				}
				o.Alternates = append(o.Alternates, page.Alternate{URL: page.URL(u), Language: language})
				doc.Outline = o.Encode()
			case "menu": // after the text, which is the main content
				o := page.Outline{Main: []page.Range{{End: len(doc.Text)}}}
				doc.Text += "\n" + value
				doc.Outline = o.Encode()
			case "member":
				doc.Members = append(doc.Members, page.URL(value))
			default:
				d.Fatalf(s.t, "unknown line %q", l)
			}
		}
	}
	return list
}

func (s *specIndex) attribute(d *datadriven.TestData, c *Change, f string) {
	name, value, _ := strings.Cut(f, "=")
	var err error
	switch name {
	case "seq":
		c.Seq, err = strconv.ParseUint(value, 10, 64)
		if c.Doc != nil {
			c.Doc.Seq = c.Seq
		}
	case "url":
		c.Doc.URL = page.URL(value)
	case "lang":
		c.Doc.Language = value
	case "rank":
		c.Doc.Rank, err = strconv.ParseFloat(value, 64)
	case "inlinks":
		c.Doc.Inlinks, err = strconv.Atoi(value)
	case "fetched":
		c.Doc.FetchedAt, err = time.Parse(time.RFC3339, value)
	default:
		err = errors.New("unknown attribute")
	}
	if err != nil {
		d.Fatalf(s.t, "%s: %v", f, err)
	}
}

// search searches the index, and wants the same of the shards.
func (s *specIndex) search(q string, o search.Options) (*search.Results, error) {
	res, err := s.r.Search(s.t.Context(), q, o)
	if err != nil {
		return nil, err
	}
	same, err := s.shards.Search(s.t.Context(), q, o)
	if err != nil {
		return nil, err
	}
	sameResults(s.t, q+" in shards", same, res)
	return res, nil
}

func (s *specIndex) query(d *datadriven.TestData) (string, error) {
	var o search.Options
	d.MaybeScanArgs(s.t, "limit", &o.Limit)
	d.MaybeScanArgs(s.t, "offset", &o.Offset)
	d.MaybeScanArgs(s.t, "perhost", &o.PerHost)
	if d.HasArg("sort") {
		o.Sort = search.ByDate
	}
	o.Verbatim, o.Unfold = d.HasArg("verbatim"), d.HasArg("unfold")
	d.MaybeScanArgs(s.t, "lang", &o.Language)
	var b strings.Builder
	for _, q := range strings.Split(d.Input, "\n") {
		res, err := s.search(q, o)
		if err != nil {
			if usage := (*search.UsageError)(nil); errors.As(err, &usage) {
				fmt.Fprintf(&b, "[%s] usage: %s\n", q, usage.Reason)
				continue
			}
			return "", err
		}
		fmt.Fprintf(&b, "[%s] total %d, with all words %d\n", q, res.Total, res.AllWords)
		for _, n := range res.Notes {
			fmt.Fprintf(&b, "note: %s\n", n)
		}
		if res.ShowingFor != "" {
			fmt.Fprintf(&b, "showing results for [%s]\n", res.ShowingFor)
		} else if res.Suggestion != "" {
			fmt.Fprintf(&b, "did you mean [%s]\n", res.Suggestion)
		}
		for _, h := range res.Hits {
			fmt.Fprintf(&b, "%d. %s  %s\n", h.Position, h.URL, h.Title)
			if text := h.Snippet.Render("**", "**", nil); text != "" && !d.HasArg("urls") {
				fmt.Fprintf(&b, "   %s\n", text)
			}
			if len(h.Duplicates) > 0 {
				fmt.Fprintf(&b, "   also: %v\n", h.Duplicates)
			}
			for _, a := range h.Also {
				how := "folded"
				if a.Similar {
					how = "similar"
				}
				fmt.Fprintf(&b, "   %s: %s  %s\n", how, a.URL, a.Label)
			}
			if h.MoreFromHost > 0 {
				fmt.Fprintf(&b, "   %d more from this host\n", h.MoreFromHost)
			}
		}
	}
	return b.String(), nil
}

// ranking shows in which order documents come and why; figures to two digits, so that
// a change of the ranking is seen in review, and noise is not.
func (s *specIndex) ranking(d *datadriven.TestData) (string, error) {
	o := search.Options{Explain: true, NoSuggestion: true}
	d.MaybeScanArgs(s.t, "perhost", &o.PerHost)
	d.MaybeScanArgs(s.t, "lang", &o.Language)
	var b strings.Builder
	for _, q := range lines(d.Input) {
		res, err := s.search(q, o)
		if err != nil {
			return "", err
		}
		fmt.Fprintf(&b, "[%s]\n", q)
		for _, h := range res.Hits {
			e := h.Explanation
			if got := e.Text * e.TitleFactor * e.AnchorFactor * e.RankFactor * e.SiteFactor * e.SectionFactor * e.LanguageFactor * e.VersionFactor * e.ContentFactor * e.TypedFactor * e.PassageFactor; math.Abs(got-h.Score) > 1e-9*math.Abs(got) && len(res.Hits) > 0 && e.Tier != "no words" {
				return "", fmt.Errorf("%s: score %v is not the product of its factors %+v", h.URL, h.Score, e)
			}
			fmt.Fprintf(&b, "%2d. %-42s title ×%.2g, anchors ×%.2g, rank ×%.2f, %s", h.Position, h.URL, e.TitleFactor, e.AnchorFactor, e.RankFactor, e.Tier)
			if e.SiteFactor != 1 {
				fmt.Fprintf(&b, ", site ×%.2g", e.SiteFactor)
			}
			if e.LanguageFactor != 1 {
				fmt.Fprintf(&b, ", language ×%.2g", e.LanguageFactor)
			}
			if e.VersionFactor != 1 {
				fmt.Fprintf(&b, ", version ×%.2g", e.VersionFactor)
			}
			if e.ContentFactor != 1 {
				fmt.Fprintf(&b, ", content ×%.2g", e.ContentFactor)
			}
			if h.MoreFromHost > 0 {
				fmt.Fprintf(&b, ", %d more from this host", h.MoreFromHost)
			}
			for _, w := range e.OtherWords {
				fmt.Fprintf(&b, ", %s for %s", w.As, w.Word)
			}
			if e.Repeats != "" {
				fmt.Fprintf(&b, ", little besides %s", e.Repeats)
			}
			if e.PlaceOf != "" {
				fmt.Fprintf(&b, ", in the place of %s", e.PlaceOf)
			}
			for _, a := range h.Also {
				fmt.Fprintf(&b, ", with %s", a.URL)
			}
			b.WriteByte('\n')
		}
	}
	return b.String(), nil
}

func (s *specIndex) docs() (string, error) {
	var b strings.Builder
	err := s.r.Documents(s.t.Context(), func(d Document) error {
		fmt.Fprintf(&b, "%s %s seq=%d rank=%g title=%q text=%q", s.names[d.Cluster], d.URL, d.Seq, d.Rank, d.Title, d.Text)
		if !d.FetchedAt.IsZero() {
			fmt.Fprintf(&b, " fetched=%s", d.FetchedAt.Format(time.RFC3339))
		}
		b.WriteByte('\n')
		return nil
	})
	return b.String(), err
}

func (s *specIndex) tombstones() (string, error) {
	rows, err := s.r.db.QueryContext(s.t.Context(), "SELECT cluster, seq FROM tombstones ORDER BY seq, cluster")
	if err != nil {
		return "", err
	}
	defer rows.Close()
	var b strings.Builder
	for rows.Next() {
		var c []byte
		var seq int
		if err := rows.Scan(&c, &seq); err != nil {
			return "", err
		}
		fmt.Fprintf(&b, "%s seq=%d\n", s.names[page.ContentKey(c)], seq)
	}
	return b.String(), rows.Err()
}

func lines(s string) (list []string) {
	for _, l := range strings.Split(s, "\n") {
		if strings.TrimSpace(l) != "" {
			list = append(list, l)
		}
	}
	return list
}

func (s *specIndex) similar(d *datadriven.TestData) (string, error) {
	var o search.SimilarOptions
	for _, arg := range d.CmdArgs[1:] {
		var err error
		switch arg.Key {
		case "threshold":
			o.Threshold, err = strconv.ParseFloat(arg.Vals[0], 64)
		case "limit":
			o.Limit, err = strconv.Atoi(arg.Vals[0])
		}
		if err != nil {
			d.Fatalf(s.t, "%v", err)
		}
	}
	u := page.URL(d.CmdArgs[0].Key)
	res, err := s.r.Similar(s.t.Context(), u, o)
	divided, err2 := s.shards.Similar(s.t.Context(), u, o)
	if err != nil {
		if fmt.Sprint(err) != fmt.Sprint(err2) {
			s.t.Errorf("%s: %v, and of shards: %v", u, err, err2)
		}
		return "", err
	}
	if res.TookMS = 0; err2 == nil {
		divided.TookMS = 0
	}
	if !reflect.DeepEqual(res, divided) {
		s.t.Errorf("%s: %+v, and of shards: %+v (%v)", u, res, divided, err2)
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s %q: %d with %v or more\n", res.URL, res.Title, res.Total, res.Threshold)
	for _, p := range res.Pages {
		fmt.Fprintf(&b, "%.3f %s %q %s\n", p.Similarity, p.URL, p.Title, p.Language)
	}
	return b.String(), nil
}
