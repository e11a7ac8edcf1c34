package feed_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/webindexer/indexer/export"
	"github.com/webindexer/indexer/observers/webtest"
	"github.com/webindexer/indexer/page"
	"github.com/webindexer/indexer/repository/feed"
	"github.com/webindexer/indexer/repository/snapshot"
)

var web = []string{
	"a.example/ at=1 page text=same title=A link=x.example/,aside",
	"b.example/ at=2 page text=same title=A",
	"x.example/ at=3 page text=x title=X link=b.example/,first link=b.example/,second",
	"x.example/ at=4 failed",
	"gone.example/ at=5 gone",
}

// written writes what opts choose of the present state.
func written(t *testing.T, r *webtest.Rig, opts feed.Options) (feed.Result, string) {
	t.Helper()
	tx, err := snapshot.Past(t.Context(), r.DB, snapshot.Moment{})
	if err != nil {
		t.Fatal(err)
	}
	defer tx.Rollback()
	var out bytes.Buffer
	opts.Scratch = t.TempDir()
	res, err := feed.Write(t.Context(), r.DB, tx, opts, &out)
	if err != nil {
		t.Fatal(err)
	}
	if res.TS != tx.Start() {
		t.Errorf("exported as of %d, want %d", res.TS, tx.Start())
	}
	return res, out.String()
}

// writeTo writes what opts choose and returns the error.
func writeTo(t *testing.T, r *webtest.Rig, opts feed.Options) error {
	t.Helper()
	tx, err := snapshot.Past(t.Context(), r.DB, snapshot.Moment{})
	if err != nil {
		t.Fatal(err)
	}
	defer tx.Rollback()
	opts.Scratch = t.TempDir()
	_, err = feed.Write(t.Context(), r.DB, tx, opts, io.Discard)
	return err
}

func choice(format, table string) feed.Options {
	return feed.Options{Choice: export.Choice{Format: format, Table: table}}
}

func TestDocuments(t *testing.T) {
	res, out := written(t, webtest.Settled(t, web...), choice(export.FormatJSONL, export.Documents))
	var got []string
	for line := range strings.Lines(out) {
		var d export.Document
		if err := json.Unmarshal([]byte(line), &d); err != nil {
			t.Fatal(err)
		}
		s := fmt.Sprintf("%s %q %v at %s", webtest.Short(d.URL), d.Title, d.Members, d.FetchedAt.Format("05"))
		for _, l := range d.Inlinks {
			s += fmt.Sprintf("; %s -> %s %s", webtest.Short(l.Source), webtest.Short(l.Target), l.Anchor)
		}
		got = append(got, s)
	}
	want := []string{
		`b.example/ "A" [https://a.example/ https://b.example/] at 02; x.example/ -> b.example/ first; x.example/ -> b.example/ second`,
		`x.example/ "X" [https://x.example/] at 03; a.example/ -> x.example/ aside`,
	}
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	if res.Documents != 2 || res.Unsettled != 0 {
		t.Errorf("%+v", res)
	}
}

func TestTables(t *testing.T) {
	r := webtest.Settled(t, web...)
	for _, tt := range []struct {
		format, table string
		records       int
		has           []string // parts of the output, in this order
	}{
		{export.FormatJSONL, export.Links, 3, []string{
			`{"source":"https://x.example/","target":"https://b.example/","anchor":"first"}`, `"second"`, `"aside"`}},
		{export.FormatParquet, export.Documents, 2, []string{"PAR1", "PAR1"}},
		{export.FormatParquet, export.Links, 3, []string{"PAR1", "PAR1"}},
		{export.FormatRanks, export.Hosts, 4, []string{"\n"}},
		{export.FormatCDXJ, export.Captures, 4, []string{"example,a)/", "example,b)/", `example,gone)/`, "example,x)/"}},
		{export.FormatCIFF, export.Documents, 2, nil},
	} {
		t.Run(tt.format+" of "+tt.table, func(t *testing.T) {
			res, out := written(t, r, choice(tt.format, tt.table))
			if res.Documents != tt.records || out == "" {
				t.Errorf("%d records in %d bytes, want %d", res.Documents, len(out), tt.records)
			}
			for _, part := range tt.has {
				_, after, found := strings.Cut(out, part)
				if !found {
					t.Fatalf("no %q in what is left: %q", part, out)
				}
				out = after
			}
		})
	}
}

// TestDigest is the same for the same fetches in any order, whatever is exported into.
func TestDigest(t *testing.T) {
	res, _ := written(t, webtest.Settled(t, web...), choice(export.FormatJSONL, export.Documents))
	backwards := make([]string, 0, len(web))
	for _, line := range web {
		backwards = append([]string{line}, backwards...)
	}
	again, _ := written(t, webtest.Settled(t, backwards...), choice(export.FormatParquet, export.Documents))
	if res.Digest != again.Digest || !strings.HasPrefix(res.Digest, "sha256:") {
		t.Errorf("digests %s and %s", res.Digest, again.Digest)
	}
	other, _ := written(t, webtest.Settled(t, web[1:]...), choice(export.FormatJSONL, export.Documents))
	if other.Digest == res.Digest {
		t.Error("other fetches have the same digest")
	}
}

// alike are pages; the first three differ in a few words.
var alike = []string{
	"l.example/ at=1 page text=the-lamp-burns-oil-from-the-first-hour-of-the-night-until-the-sun-is-up-and-the-keeper-trims-it title=A",
	"m.example/ at=2 page text=the-lamp-burns-oil-from-the-first-hour-of-the-night-until-the-sun-is-up-and-the-keeper-cleans-it title=B",
	"n.example/ at=3 page text=the-lamp-burns-oil-from-the-first-hour-of-the-night-until-the-sun-is-up-and-the-keeper-cleans-them title=C",
	"o.example/ at=4 page text=spare-wicks-are-in-the-store-below-the-tower title=D",
}

func TestSimilar(t *testing.T) {
	r := webtest.Settled(t, alike...)
	pairs := func(threshold float64) (list []string) {
		opts := choice(export.FormatSimilar, export.Pairs)
		opts.Threshold = threshold
		res, out := written(t, r, opts)
		for line := range strings.Lines(out) {
			var p export.Pair
			if err := json.Unmarshal([]byte(line), &p); err != nil {
				t.Fatal(err)
			}
			list = append(list, webtest.Short(p.URL)+webtest.Short(p.Other))
		}
		if res.Documents != len(list) || res.Digest != "" {
			t.Errorf("%d pairs, and the result %+v", len(list), res)
		}
		return list
	}
	for threshold, want := range map[float64]string{
		0.5: "[l.example/m.example/ l.example/n.example/ m.example/n.example/]", 0.65: "[m.example/n.example/]", 1: "[]",
	} {
		if got := fmt.Sprint(pairs(threshold)); got != want {
			t.Errorf("%v: %s, want %s", threshold, got, want)
		}
	}
}

// TestUnsettled exports at every step of a change. It always succeeds; between the step
// that takes the page out of its cluster and the one that takes the document out of the
// index, the document is unsettled.
func TestUnsettled(t *testing.T) {
	r := webtest.Settled(t, "a.example/ at=1 page text=a")
	r.Add(t, "a.example/ at=2 gone")
	unsettled := 0
	for more := true; more; {
		res, _ := written(t, r, choice(export.FormatJSONL, export.Documents))
		unsettled += res.Unsettled
		var err error
		if more, err = r.Step(t.Context(), func(int) int { return 0 }); err != nil {
			t.Fatal(err)
		}
	}
	if unsettled == 0 {
		t.Error("no export met the document between two steps")
	}
	if res, out := written(t, r, choice(export.FormatJSONL, export.Documents)); res.Documents != 0 || out != "" {
		t.Errorf("in the end: %+v, %s", res, out)
	}
}

// full is a device without space.
type full struct{}

var errFull = errors.New("no space")

func (full) Write([]byte) (int, error) { return 0, errFull }

func TestWriteFails(t *testing.T) {
	r := webtest.Settled(t, append(alike, web...)...)
	tx, err := snapshot.Past(t.Context(), r.DB, snapshot.Moment{})
	if err != nil {
		t.Fatal(err)
	}
	defer tx.Rollback()
	write := func(format, table string, w io.Writer) error {
		opts := choice(format, table)
		opts.Scratch, opts.Threshold, opts.URLs = t.TempDir(), 0.5, []page.URL{"https://a.example/"}
		_, err := feed.Write(t.Context(), r.DB, tx, opts, w)
		return err
	}
	for _, c := range [][2]string{
		{export.FormatJSONL, export.Documents}, {export.FormatJSONL, export.Links}, {export.FormatParquet, export.Documents},
		{export.FormatParquet, export.Links}, {export.FormatRanks, export.Hosts}, {export.FormatCDXJ, export.Captures}, {export.FormatCIFF, export.Documents}, {export.FormatSimilar, export.Pairs}, {export.FormatWACZ, export.Pages},
	} {
		if err := write(c[0], c[1], full{}); !errors.Is(err, errFull) {
			t.Errorf("%s of %s: %v, want %v", c[0], c[1], err, errFull)
		}
	}
	if err := write("xml", export.Links, io.Discard); err == nil || !strings.Contains(err.Error(), "xml of links: there is no such export") {
		t.Errorf("an unknown format: %v", err)
	}
}

// TestCutOff: a file of which only a part was written does not end like a complete one.
func TestCutOff(t *testing.T) {
	r := webtest.Settled(t, web...)
	tx, err := snapshot.Past(t.Context(), r.DB, snapshot.Moment{})
	if err != nil {
		t.Fatal(err)
	}
	defer tx.Rollback()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for _, table := range []string{export.Documents, export.Links} {
		var out bytes.Buffer
		opts := choice(export.FormatParquet, table)
		opts.Scratch = t.TempDir()
		if _, err := feed.Write(ctx, r.DB, tx, opts, &out); !errors.Is(err, context.Canceled) || bytes.HasSuffix(out.Bytes(), []byte("PAR1")) {
			t.Errorf("%s: %d bytes, error %v", table, out.Len(), err)
		}
	}
}
