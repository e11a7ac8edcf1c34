package measure

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/webindexer/indexer/index"
	"github.com/webindexer/indexer/page"
)

func TestMedian(t *testing.T) {
	for _, c := range []struct {
		list []float64
		want float64
	}{{nil, 0}, {[]float64{3}, 3}, {[]float64{4, 1}, 2.5}, {[]float64{9, 1, 2}, 2}} {
		if got := Median(c.list); got != c.want {
			t.Errorf("%v: %v, want %v", c.list, got, c.want)
		}
	}
}

func TestQuantile(t *testing.T) {
	list := []float64{1, 2, 30}
	for _, c := range []struct{ q, want float64 }{{0, 1}, {0.3, 1}, {0.5, 2}, {0.99, 30}, {1, 30}} {
		if got := Quantile(list, c.q); got != c.want {
			t.Errorf("%v: %v, want %v", c.q, got, c.want)
		}
	}
	if Quantile[float64](nil, 0.5) != 0 {
		t.Error("a quantile of nothing")
	}
}

// putPages puts n pages.
func putPages(ctx context.Context, b *Bulk, n int) error {
	for i := range n {
		u := page.URL(fmt.Sprintf("https://a.example/%d", i))
		if err := b.Put(ctx, &page.Fetch{URL: u}, &page.Document{Title: "harbour"}); err != nil {
			return err
		}
	}
	return nil
}

// TestInBulk: everything that was put is in the index, whichever worker took it.
func TestInBulk(t *testing.T) {
	dir := t.TempDir()
	const pages = 2*BatchSize + 10
	r, err := InBulk(t.Context(), dir, false, 3, func(ctx context.Context, b *Bulk) error { return putPages(ctx, b, pages) })
	if err != nil || r.Pages != pages {
		t.Fatalf("%+v, %v", r, err)
	}
	reader, err := index.OpenReader(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer reader.Close()
	if n, err := reader.Count(t.Context()); err != nil || n != pages {
		t.Errorf("%d documents of %d, %v", n, pages, err)
	}
}

// TestInBulkFails: an error of the loading, and an end of the context, end it.
func TestInBulkFails(t *testing.T) {
	broken := errors.New("broken")
	if _, err := InBulk(t.Context(), t.TempDir(), false, 2, func(ctx context.Context, b *Bulk) error {
		return errors.Join(putPages(ctx, b, 5), broken)
	}); !errors.Is(err, broken) {
		t.Errorf("loading failed: %v", err)
	}
	ctx, cancel := context.WithCancelCause(t.Context())
	_, err := InBulk(ctx, t.TempDir(), false, 2, func(ctx context.Context, b *Bulk) error {
		cancel(broken)
		return putPages(ctx, b, 5*BatchSize) // more than fits into the queue
	})
	if !errors.Is(err, broken) {
		t.Errorf("the context ended: %v", err)
	}
}

// TestDatabase: where a server listens, and how it is reached through a proxy.
func TestDatabase(t *testing.T) {
	for _, tt := range []struct{ setting, network, address, far string }{
		{"postgres:///db?host=/run/pg&user=me", "unix", "/run/pg/.s.PGSQL.5432", "postgres://127.0.0.1:9/db?schema=s&sslmode=disable&user=me"},
		{"postgres://me:secret@db.example/web", "tcp", "db.example:5432", "postgres://me:secret@127.0.0.1:9/web?schema=s&sslmode=disable"},
		{"postgres://me@db.example:6000/web?sslmode=require", "tcp", "db.example:6000", "postgres://me@127.0.0.1:9/web?schema=s&sslmode=disable"},
	} {
		d, err := ParseDatabase(tt.setting, "s")
		if err != nil {
			t.Fatal(err)
		}
		if network, address := d.Server(); network != tt.network || address != tt.address || d.At("127.0.0.1:9") != tt.far {
			t.Errorf("%s: %s %s, by way of a proxy %s", tt.setting, network, address, d.At("127.0.0.1:9"))
		}
	}
	for _, setting := range []string{"", "bigtable://p/i/web", "postgres://me:sec ret@[/web"} {
		if _, err := ParseDatabase(setting, "s"); err == nil || strings.Contains(err.Error(), "sec ret") {
			t.Errorf("%q: %v", setting, err)
		}
	}
}
