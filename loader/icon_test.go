package loader_test

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	mathrand "math/rand/v2"
	"strings"
	"testing"

	"github.com/webindexer/indexer/internal/testenv"
	"github.com/webindexer/indexer/observers/webtest"
	"github.com/webindexer/indexer/page"
	"github.com/webindexer/indexer/pdf/pdftest"
	"github.com/webindexer/indexer/schema"
	"github.com/webindexer/indexer/txn"
)

func parse(t *testing.T, line string) *page.Fetch {
	t.Helper()
	f, err := webtest.ParseFetch(line)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// iconsIn returns the icons that a table holds, with the sizes of their images.
func iconsIn(t *testing.T, r *webtest.Rig) string {
	t.Helper()
	var b bytes.Buffer
	_, err := r.DB.Run(t.Context(), func(tx *txn.Txn) error {
		b.Reset()
		return tx.Scan(t.Context(), schema.GroupIcon, "", "", func(row string, cols []txn.Version) error {
			image, err := tx.Get(t.Context(), row, schema.IconImage)
			for _, c := range cols {
				fmt.Fprintf(&b, "%s %s %x %d\n", c.Name, row, c.Data, len(image.Data))
			}
			return err
		})
	})
	if err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// TestIconsInAnyOrder loads fetches of a URL in random orders: the icon is that of the fetch in
// force.
func TestIconsInAnyOrder(t *testing.T) {
	kinds := []string{"icon=1", "icon=2", "icon=3", "image=1", "image=2", "gone", "failed", "error", "other", "page text=lost", "redirect=b.example/x", "revisit"}
	for seed := range testenv.Seeds(t, testenv.Fresh(t), uint64(testenv.Size(5, 30, 500))) {
		random := mathrand.New(mathrand.NewPCG(seed, 0))
		var fetches []*page.Fetch
		at := []string{"a.example/favicon.ico", "a.example/lamp"}[random.IntN(2)]
		for i := range 8 {
			fetches = append(fetches, parse(t, fmt.Sprintf("%s at=%d %s", at, i/2, kinds[random.IntN(len(kinds))])))
		}
		var want string
		for attempt := range 4 {
			r := openRig(t, webtest.Options{})
			for _, i := range random.Perm(len(fetches)) {
				mustLoad(t, r, fetches[i])
			}
			got := iconsIn(t, r)
			if attempt == 0 {
				want = got
			}
			if got != want {
				t.Errorf("seed %d: the icons are\n%snot\n%s", seed, got, want)
			}
		}
	}
}

// TestIconOfAnEarlierBuild: a fetch that was loaded before icons were kept brings its image when
// it is loaded again.
func TestIconOfAnEarlierBuild(t *testing.T) {
	for _, line := range []string{"a.example/favicon.ico at=1 icon=7", "a.example/lamp at=1 image=7"} {
		addsIcon(t, parse(t, line))
	}
}

func addsIcon(t *testing.T, f *page.Fetch) {
	t.Helper()
	r := openRig(t, webtest.Options{})
	mustLoad(t, r, f)
	want := iconsIn(t, r)
	_, err := r.DB.Run(t.Context(), func(tx *txn.Txn) error {
		for _, c := range []txn.Column{schema.IconColumns[f.IconUse()], schema.IconImage} {
			tx.Delete(schema.URLRow(f.URL), c)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if iconsIn(t, r) != "" || want == "" {
		t.Fatal("the test removes nothing")
	}
	mustLoad(t, r, f)
	if got := iconsIn(t, r); got != want {
		t.Errorf("the icons are\n%snot\n%s", got, want)
	}
}

// TestIconThatClaimsToBePDF: the image of an icon is its body as loaded, even if its media type
// makes the loader read it as a document.
func TestIconThatClaimsToBePDF(t *testing.T) {
	r := openPDFs(t, new(pdfReader))
	f := parse(t, "a.example/favicon.ico at=1 icon=7")
	f.Header.Set("Content-Type", pdftest.Type)
	for range 2 {
		mustLoad(t, r, f)
		if got, want := iconsIn(t, r), fmt.Sprintf(" %x %d\n", sha256.Sum256(f.Body), len(f.Body)); !strings.HasSuffix(got, want) {
			t.Errorf("the icon is %s, want one of %s", got, want)
		}
	}
	mustLoad(t, r, parse(t, "a.example/favicon.ico at=2 gone"))
	if got := iconsIn(t, r); got != "" {
		t.Errorf("the icon that is gone is %s", got)
	}
}
