package page

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/abadojack/whatlanggo"

	"github.com/webindexer/indexer/internal/testenv"
)

// TestDetectAsLibrary compares detect with the library on texts of words that are drawn
// from the profiles of two languages, in all shares: ties and near misses are frequent.
func TestDetectAsLibrary(t *testing.T) {
	t.Parallel()
	if _, err := loadProfiles(); err != nil {
		t.Fatal(err)
	}
	rng := testenv.Random(t)
	lines := strings.Split(strings.TrimSpace(trigramsText), "\n")
	word := func(line int) string {
		_, rest, _ := strings.Cut(lines[line], " ")
		_, text, _ := strings.Cut(rest, " ")
		runes := []rune(text)
		i := 3 * rng.IntN(profileSize)
		return string(runes[i : i+3])
	}
	reliable := 0
	const texts = 500
	for range texts {
		a, share := rng.IntN(len(lines)), rng.Float64()
		b := (a + rng.IntN(4)) % len(lines)
		var text strings.Builder
		for range 1 + rng.IntN(300) {
			line := a
			if rng.Float64() < share {
				line = b
			}
			text.WriteString(word(line))
			text.WriteString([]string{"", "", " ", ", ", "-", "7", "É", "ẞ", "\xff"}[rng.IntN(9)])
		}
		if sameAsLibrary(t, text.String()) {
			reliable++
		}
	}
	if reliable < texts/10 || reliable > texts*98/100 {
		t.Errorf("%d of %d texts have a reliable language: they test little", reliable, texts)
	}
}

// TestDetectAsLibraryOnPages does so with the project's own documents and code.
func TestDetectAsLibraryOnPages(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("../docs/*.md")
	if err != nil || len(files) == 0 {
		t.Fatalf("documents: %v, %v", files, err)
	}
	for _, f := range append(files, "trigrams.txt", "url.go") {
		b, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		for from := 0; from < len(b); from += 1000 {
			sameAsLibrary(t, string(b[from:min(len(b), from+1024)]))
		}
	}
}

func sameAsLibrary(t *testing.T, text string) (reliable bool) {
	t.Helper()
	lang, reliable := detect(text)
	info := whatlanggo.Detect(text)
	if reliable != info.IsReliable() || reliable && lang != info.Lang {
		t.Errorf("%q: %s (reliable: %v), the library says %s (%v)", text, lang, reliable, info.Lang, info.IsReliable())
	}
	return reliable
}

func BenchmarkDetect(b *testing.B) {
	text, err := os.ReadFile("../docs/semantics.md")
	if err != nil {
		b.Fatal(err)
	}
	for name, f := range map[string]func(string){
		"index":   func(s string) { detect(s) },
		"library": func(s string) { whatlanggo.Detect(s) },
	} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				f(string(text[1000:2024]))
			}
		})
	}
}
