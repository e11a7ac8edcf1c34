package index

import (
	"database/sql"
	"errors"
	"slices"
	"testing"

	"github.com/webindexer/indexer/page"
)

// TestThumbnails: a document has the thumbnail of its newest change, and the thumbnail goes
// when the document does.
func TestThumbnails(t *testing.T) {
	dir := t.TempDir()
	w := openTestWriter(t, dir)
	r := openTestReader(t, dir)
	seq := uint64(0)
	put := func(cluster string, u page.URL, text, image string) {
		t.Helper()
		seq++
		c := Upsert(&Document{Cluster: key(cluster), Seq: seq, URL: u, Title: "Lamp", Text: text, Members: []page.URL{u}, MembersTotal: 1})
		c.Thumbnail = []byte(image)
		apply(t, w, c)
	}
	want := func(pictures map[page.URL]string) {
		t.Helper()
		urls := []page.URL{"https://a.example/", "https://b.example/", "https://c.example/"}
		var pictured []page.URL
		for _, u := range urls {
			image, err := r.Thumbnail(t.Context(), u)
			if err != nil || string(image) != pictures[u] {
				t.Errorf("the thumbnail of %s is %q, want %q; %v", u, image, pictures[u], err)
			}
			if pictures[u] != "" {
				pictured = append(pictured, u)
			}
		}
		if got, err := r.Pictured(t.Context(), urls); err != nil || !slices.Equal(got, pictured) {
			t.Errorf("%v have thumbnails, want %v; %v", got, pictured, err)
		}
		v, err := r.Snapshot(t.Context())
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

	put("first", "https://a.example/", "text", "")
	want(nil)
	put("first", "https://a.example/", "text", "red")
	put("second", "https://b.example/", "other text", "green")
	want(map[page.URL]string{"https://a.example/": "red", "https://b.example/": "green"})
	put("first", "https://a.example/", "text", "blue")
	put("second", "https://b.example/", "third text", "green")
	want(map[page.URL]string{"https://a.example/": "blue", "https://b.example/": "green"})
	put("second", "https://b.example/", "third text", "")
	want(map[page.URL]string{"https://a.example/": "blue"})
	put("first", "https://c.example/", "text", "blue")
	want(map[page.URL]string{"https://c.example/": "blue"})
	put("third", "https://c.example/", "a text that takes the place of the first", "grey") // buries first
	want(map[page.URL]string{"https://c.example/": "grey"})
	seq++
	apply(t, w, Delete(key("third"), seq))
	want(nil)

	put("third", "https://c.example/", "text", "grey")
	db, err := sql.Open("sqlite", writerDSN(shardPath(dir), false))
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
	if image, err := r.Thumbnail(t.Context(), "https://c.example/"); !errors.Is(err, ErrCorrupt) {
		t.Errorf("a damaged thumbnail is %q, %v", image, err)
	}
	paint("grey")
	want(map[page.URL]string{"https://c.example/": "grey"})
}
