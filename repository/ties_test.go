package repository_test

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/webindexer/indexer/internal/testenv"
	"github.com/webindexer/indexer/page"
	"github.com/webindexer/indexer/page/office/officetest"
	"github.com/webindexer/indexer/pdf/pdftest"
	"github.com/webindexer/indexer/repository"
	"github.com/webindexer/indexer/schema"
	"github.com/webindexer/indexer/txn"
)

// tiedWeb draws a page that links to a few URLs, each with fetches at the same time whose bodies
// are equal: servers give them different media types.
func tiedWeb(rnd *rand.Rand) []page.Fetch {
	at := time.Date(2024, 5, 1, 0, 0, 0, 0, time.UTC)
	long := strings.Repeat("The harbour is dredged every third year. ", 4)
	bodies := []string{"%PDF <title>Plan</title><a href=/>the port</a> " + long, "rubbish", string(officetest.Word("Report", long, "/"))}
	types := []string{pdftest.Type, officetest.WordType, "image/png", "application/vnd.port-of-some-harbour.plans-of-the-year+octets", "text/css", "text/plain"}
	var fetches []page.Fetch
	var links strings.Builder
	for n := range 20 {
		u := page.URL(fmt.Sprintf("https://port.example/%d", n))
		fmt.Fprintf(&links, "<a href=%s>document %d</a> ", u, n)
		body := bodies[rnd.IntN(len(bodies))]
		for range 2 + rnd.IntN(3) {
			h := http.Header{"Content-Type": {types[rnd.IntN(len(types))]}}
			if rnd.IntN(4) == 0 {
				h.Set("X-Robots-Tag", "noindex")
			}
			fetches = append(fetches, page.Fetch{URL: u, Time: at, Status: 200, Header: h, Body: []byte(body)})
		}
	}
	front := page.Fetch{URL: "https://port.example/", Time: at, Status: 200, Header: http.Header{"Content-Type": {"text/html"}}}
	front.Body = []byte("<title>Port</title>" + links.String() + long)
	return append(fetches, front)
}

// randomSettings draws which formats are pages, and whether resources are kept.
func randomSettings(rnd *rand.Rand) repository.Options {
	return repository.Options{
		PDF: new(rnd.IntN(2) == 0), Office: new(rnd.IntN(2) == 0), PDFReader: plainReader{},
		Render: []string{"off", "all"}[rnd.IntN(2)], Workers: 1 + rnd.IntN(4),
	}
}

// TestTiedFetches: of fetches with the same time and body the same ones are in force, in whatever
// order they are loaded, and whatever the settings are meanwhile.
func TestTiedFetches(t *testing.T) {
	rnd := testenv.Random(t)
	for range testenv.Size(1, 1, 40) {
		web, last := tiedWeb(rnd), randomSettings(rnd)
		var want, digest string
		for attempt := range 3 {
			dir := t.TempDir()
			for range attempt { // the first one has no past
				r := open(t, dir, randomSettings(rnd))
				load(t, r, 1+rnd.IntN(4), shuffled(rnd, web))
				closeNow(t, r)
			}
			r := open(t, dir, last)
			load(t, r, 1+rnd.IntN(4), shuffled(rnd, web))
			if attempt == 0 {
				want, digest = fetchesIn(t, r), digestOf(t, r)
			}
			if got := fetchesIn(t, r); got != want {
				t.Errorf("in force are\n%snot\n%s", got, want)
			}
			wantSound(t, r, digest)
			closeNow(t, r)
		}
	}
}

// fetchesIn describes the fetches in force.
func fetchesIn(t *testing.T, r *repository.Repository) string {
	t.Helper()
	tx, err := r.DB().Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer tx.Rollback()
	var b strings.Builder
	err = tx.Scan(t.Context(), schema.GroupFetch, "", "", func(row string, cols []txn.Version) error {
		for _, c := range cols {
			if c.Name != schema.FetchContent.Name {
				continue
			}
			f, _, err := schema.DecodeContent(c.Data)
			if err != nil {
				return err
			}
			fmt.Fprintf(&b, "%s %v office=%t resource=%t reading=%+v\n", row, f.Header, f.Office, f.Resource, f.Reading)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return b.String()
}
