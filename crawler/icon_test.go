package crawler

import (
	"fmt"
	"net/http"
	"slices"
	"testing"

	"github.com/webindexer/indexer/page"
)

// TestIconsAreBounded: a front page that names other icons each time has a few of them asked for,
// over all runs.
func TestIconsAreBounded(t *testing.T) {
	h := newHost("https://a.example")
	for i := range 3 * MaxNamedIcons {
		u := page.URL(fmt.Sprintf("https://a.example/%d.png", i))
		for _, again := range []bool{false, true} {
			if named, want := h.icons.join(icons{named: []page.URL{u}}), i < MaxNamedIcons && !again; named != want {
				t.Errorf("icon %d, again %t: %t", i, again, named)
			}
		}
		s, err := DecodeHost(h.encode())
		if err != nil {
			t.Fatal(err)
		}
		h = newHost(h.key) // in another run
		h.restore(s, nil, s.Saved)
	}
	if n := len(h.icons.named); n != MaxNamedIcons || h.icons.named[0] != "https://a.example/0.png" {
		t.Errorf("%q", h.icons.named)
	}
	if h.icons.join(icons{root: true}) || !h.icons.root {
		t.Error("/favicon.ico is no icon that a page names")
	}
}

func TestIsFront(t *testing.T) {
	for _, tt := range []struct {
		job  Job
		want bool
	}{
		{Job{URL: "https://a.example/"}, true},
		{Job{URL: "https://a.example/?x"}, false},
		{Job{URL: "https://a.example/en/", Source: "https://a.example/", Hops: 1}, true},
		{Job{URL: "https://a.example/en/", Source: "https://a.example/"}, false}, // a link
		{Job{URL: "https://a.example/en/", Source: "https://b.example/", Hops: 1}, false},
		{Job{URL: "http://a.example:8080/", Source: "seeds"}, true},
	} {
		if got := isFront(&tt.job); got != tt.want {
			t.Errorf("%s from %s: %t", tt.job.URL, tt.job.Source, got)
		}
	}
}

func TestIsFalseIcon(t *testing.T) {
	icon := Job{URL: "https://a.example/lamp", Resource: true, Source: IconOf("https://a.example/")}
	root := Job{URL: "https://a.example/favicon.ico", Resource: true, Source: "https://a.example/"}
	script := Job{URL: "https://a.example/lamp", Resource: true, Source: "https://a.example/"}
	link := root
	link.Resource = false
	if by, ok := IconNamedBy(icon.Source); !ok || by != "https://a.example/" {
		t.Errorf("named by %q", by)
	}
	documents := []string{"text/html", "text/plain", "application/pdf", "application/vnd.oasis.opendocument.text"}
	for _, mediaType := range append([]string{"image/png"}, documents...) {
		f := page.Fetch{Status: http.StatusOK, Header: http.Header{"Content-Type": {mediaType}}, Body: []byte("text")}
		for _, tt := range []struct {
			job  *Job
			want bool
		}{{&icon, slices.Contains(documents, mediaType)}, {&root, slices.Contains(documents, mediaType)}, {&script, false}, {&link, false}} {
			if f.URL = tt.job.URL; isFalseIcon(tt.job, &f) != tt.want {
				t.Errorf("%s in place of %s: %t", mediaType, tt.job.URL, !tt.want)
			}
		}
	}
}
