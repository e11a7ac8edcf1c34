package index

import (
	"database/sql"
	"errors"
	"slices"
	"testing"

	"github.com/webindexer/indexer/page"
)

// thumbnailRig is index files whose documents have thumbnails.
type thumbnailRig struct {
	t   *testing.T
	dir string
	w   *Writer
	r   *Reader
	seq uint64
}

func newThumbnailRig(t *testing.T) *thumbnailRig {
	dir := t.TempDir()
	w := openTestWriter(t, dir)
	return &thumbnailRig{t: t, dir: dir, w: w, r: openTestReader(t, dir)}
}

func (g *thumbnailRig) put(cluster string, u page.URL, text, image string) {
	g.t.Helper()
	g.seq++
	c := Upsert(&Document{Cluster: key(cluster), Seq: g.seq, URL: u, Title: "Lamp", Text: text, Members: []page.URL{u}, MembersTotal: 1})
	c.Thumbnail = []byte(image)
	apply(g.t, g.w, c)
}

func (g *thumbnailRig) want(pictures map[page.URL]string) {
	t := g.t
	t.Helper()
	urls := []page.URL{"https://a.example/", "https://b.example/", "https://c.example/"}
	var pictured []page.URL
	for _, u := range urls {
		image, err := g.r.Thumbnail(t.Context(), u)
		if err != nil || string(image) != pictures[u] {
			t.Errorf("the thumbnail of %s is %q, want %q; %v", u, image, pictures[u], err)
		}
		if pictures[u] != "" {
			pictured = append(pictured, u)
		}
	}
	if got, err := g.r.Pictured(t.Context(), urls); err != nil || !slices.Equal(got, pictured) {
		t.Errorf("%v have thumbnails, want %v; %v", got, pictured, err)
	}
	v, err := g.r.Snapshot(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for e, err := range v.Entries(t.Context()) {
		if err != nil || e.Thumbnail != SumThumbnail([]byte(pictures[e.URL])) {
			t.Errorf("the entry of %s has the sum %x; %v", e.URL, e.Thumbnail, err)
		}
	}
	if err := errors.Join(v.Check(t.Context()), v.Close()); err != nil {
		t.Error(err)
	}
}

// TestThumbnails: a document has the thumbnail of its newest change, and the thumbnail goes
// when the document does.
func TestThumbnails(t *testing.T) {
	g := newThumbnailRig(t)
	g.put("first", "https://a.example/", "text", "")
	g.want(nil)
	g.put("first", "https://a.example/", "text", "red")
	g.put("second", "https://b.example/", "other text", "green")
	g.want(map[page.URL]string{"https://a.example/": "red", "https://b.example/": "green"})
	g.put("first", "https://a.example/", "text", "blue")
	g.put("second", "https://b.example/", "third text", "green")
	g.want(map[page.URL]string{"https://a.example/": "blue", "https://b.example/": "green"})
	g.put("second", "https://b.example/", "third text", "")
	g.want(map[page.URL]string{"https://a.example/": "blue"})
	g.put("first", "https://c.example/", "text", "blue")
	g.want(map[page.URL]string{"https://c.example/": "blue"})
	g.put("third", "https://c.example/", "a text that takes the place of the first", "grey") // buries first
	g.want(map[page.URL]string{"https://c.example/": "grey"})
	g.seq++
	apply(t, g.w, Delete(key("third"), g.seq))
	g.want(nil)
}

func TestDamagedThumbnail(t *testing.T) {
	g := newThumbnailRig(t)
	g.put("third", "https://c.example/", "text", "grey")
	db, err := sql.Open("sqlite", writerDSN(shardPath(g.dir), false))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	paint := func(image string) {
		t.Helper()
		if _, err := db.Exec("UPDATE thumbnails SET image=?", []byte(image)); err != nil {
			t.Fatal(err)
		}
	}
	paint("pink")
	if image, err := g.r.Thumbnail(t.Context(), "https://c.example/"); !errors.Is(err, ErrCorrupt) {
		t.Errorf("a damaged thumbnail is %q, %v", image, err)
	}
	paint("grey")
	g.want(map[page.URL]string{"https://c.example/": "grey"})
}
