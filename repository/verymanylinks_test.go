package repository_test

import (
	"fmt"
	"net/http"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/webindexer/indexer/internal/testenv"
	"github.com/webindexer/indexer/notify"
	"github.com/webindexer/indexer/page"
	"github.com/webindexer/indexer/repository"
	"github.com/webindexer/indexer/schema"
	"github.com/webindexer/indexer/txn"
)

const hubOfLinks = page.URL("https://many.example/")

// hubFetch returns a page with n links; each second one is another in each version. Version
// 0 is a page that is gone.
func hubFetch(n, version int) page.Fetch {
	f := page.Fetch{URL: hubOfLinks, Time: time.Unix(1_700_000_000+int64(version), 0).UTC(), Status: http.StatusOK, Header: http.Header{"Content-Type": {"text/html"}}}
	if n == 0 {
		f.Status = http.StatusGone
		return f
	}
	var b strings.Builder
	b.WriteString("<title>Many links</title>\n")
	for i := range n {
		k := i
		if i%2 == 0 {
			k += version * n
		}
		fmt.Fprintf(&b, "<a href=/p/%07d>w%07d</a>\n", k, k)
	}
	f.Body = []byte(b.String())
	return f
}

// TestVeryManyLinks: a page with very many links is indexed, changed, and taken back, and
// each time all is as the batch says; no cell comes near the limits of the store. With
// INDEXER_LONG=1 the links are 1,000,000, and the first load takes less than a minute of
// processor time.
func TestVeryManyLinks(t *testing.T) {
	n := testenv.Size(5_000, 5_000, 1_000_000) // a part has 4,096
	r := open(t, t.TempDir(), repository.Options{})
	defer closeNow(t, r)
	linked := page.Fetch{URL: "https://many.example/p/0000001", Time: time.Unix(1_700_000_000, 0).UTC(), Status: http.StatusOK,
		Header: http.Header{"Content-Type": {"text/html"}}, Body: []byte("<title>Linked</title>" + strings.Repeat("A page that is linked to. ", 5))}
	load(t, r, 1, []page.Fetch{linked})
	for version, links := range []int{n, n, 0, 10, n} {
		before := processorTime(t)
		load(t, r, 1, []page.Fetch{hubFetch(links, version)})
		took := processorTime(t) - before
		t.Logf("version %d, %d links: %v of processor time", version, links, took)
		if version == 0 && testenv.Long() && took > time.Minute {
			t.Errorf("the first load took %v", took)
		}
		wantSound(t, r, digestOf(t, r))
		wantSmallCells(t, r)
		inlinks := 0
		if links > 0 {
			inlinks = 1
		}
		if i := inspected(t, r, linked.URL); len(i.Inlinks) != inlinks {
			t.Errorf("version %d: %d inlinks, want %d", version, len(i.Inlinks), inlinks)
		}
		if i := inspected(t, r, hubOfLinks); len(i.Outlinks) != links {
			t.Errorf("version %d: %d outlinks, want %d", version, len(i.Outlinks), links)
		}
	}
}

// TestVeryManyAnchors: very many links to one page with an anchor each are many cells of
// one row.
func TestVeryManyAnchors(t *testing.T) {
	n := testenv.Size(5_000, 5_000, 10_000)
	r := open(t, t.TempDir(), repository.Options{})
	defer closeNow(t, r)
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "<area href=/target alt='anchor %d'>", i)
	}
	fetch := func(u page.URL, body string) page.Fetch {
		return page.Fetch{URL: u, Time: time.Unix(1_700_000_000, 0).UTC(), Status: http.StatusOK, Header: http.Header{"Content-Type": {"text/html"}}, Body: []byte(body)}
	}
	source := fetch(hubOfLinks, b.String())
	load(t, r, 2, []page.Fetch{source, fetch("https://many.example/target", "<title>Target</title>"+strings.Repeat("A page that is linked to. ", 5))})
	wantSound(t, r, digestOf(t, r))
	wantSmallCells(t, r)
	if i := inspected(t, r, "https://many.example/target"); len(i.Inlinks) != n {
		t.Errorf("%d inlinks, want %d", len(i.Inlinks), n)
	}
	source.Time, source.Body = source.Time.Add(time.Second), []byte("<area href=/target alt='anchor 1'>")
	load(t, r, 1, []page.Fetch{source})
	wantSound(t, r, digestOf(t, r))
	if i := inspected(t, r, "https://many.example/target"); len(i.Inlinks) != 1 {
		t.Errorf("%d inlinks, want 1", len(i.Inlinks))
	}
}

// wantSmallCells looks for cells that are larger than a part may be. Bodies and texts are as
// large as they are.
func wantSmallCells(t *testing.T, r *repository.Repository) {
	t.Helper()
	tx, err := r.DB().Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer tx.Rollback()
	for _, group := range schema.Groups() {
		err := tx.Scan(t.Context(), group, "", "", func(row string, cols []txn.Version) error {
			for _, c := range cols {
				if column := (txn.Column{Group: group, Name: c.Name}); len(c.Data) > schema.UsualPart.Bytes && column != schema.Body && column != schema.Text {
					t.Errorf("%s of %q has %d bytes", column, row, len(c.Data))
				}
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
}

// TestVeryManyLinksInterrupted: closing the repository in the middle of the work ends it
// soon, and whatever had been done by then, the rest is done later.
func TestVeryManyLinksInterrupted(t *testing.T) {
	rng := testenv.Random(t)
	n := testenv.Size(5_000, 5_000, 12_000)
	versions := []page.Fetch{hubFetch(n, 1), hubFetch(n, 2)}
	want := undisturbed(t, versions)
	dir := t.TempDir()
	for _, f := range versions {
		for range 4 {
			r := open(t, dir, repository.Options{Workers: 1 + rng.IntN(3)})
			if _, err := loadAll(t.Context(), r, 1, []page.Fetch{f}, nil); err != nil {
				t.Fatal(err)
			}
			for some := int64(rng.IntN(15)); ; { // any moment will do
				p := r.Sample()
				idle := !slices.ContainsFunc(p.Observers, func(o notify.Stats) bool { return o.Backlog > 0 })
				if idle || p.Txns.Committed >= some {
					break
				}
				runtime.Gosched()
			}
			closeNow(t, r)
		}
	}
	r := open(t, dir, repository.Options{})
	defer closeNow(t, r)
	if err := r.Quiesce(t.Context()); err != nil {
		t.Fatal(err)
	}
	wantSound(t, r, want)
}
