package page

import (
	"testing"

	"github.com/webindexer/indexer/internal/testenv"
)

// TestResolveFast: references as on most pages are resolved without the parser, and then as the parser would.
func TestResolveFast(t *testing.T) {
	r := NewResolver("https://example.com/d/%E3%81%82/f?g")
	for _, ref := range []string{"a", "/%E4%B8%AD%2F?q[]=%20|", "#é\t%", "?{^`}", "a?'", "//b.example/%25", "https://b.example/[x]|"} {
		if _, ok := r.resolveFast(ref); ok != (ref != "a?'") {
			t.Errorf("%q: fast %t", ref, ok)
		}
	}
	pieces := []string{"a", "A", ".", "..", "/", "//", "?", "#", "%", "%2", "%2e", "%2E", "%2F", "%2f", "%41", "%E3", "%25", "[", "]", "|", "{", "^", "`", "'",
		"é", " ", "\t", "\\", ":", "@", "https://", "http:", "b.example", "\x7f"}
	rng := testenv.Random(t)
	for range 50_000 {
		ref := ""
		for range rng.IntN(8) {
			ref += pieces[rng.IntN(len(pieces))]
		}
		fast, ok := r.resolveFast(ref)
		if !ok {
			continue
		}
		if slow, err := r.resolveSlow(ref); err != nil || fast != slow {
			t.Errorf("%q: fast %q, slow %q, %v", ref, fast, slow, err)
		}
	}
}
