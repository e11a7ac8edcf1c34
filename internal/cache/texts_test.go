package cache

import (
	"errors"
	"fmt"
	"strings"
	"testing"
)

// TestTexts: what is remembered is what was made, texts of two languages are two, and
// however many texts come, the memory has its bound.
func TestTexts(t *testing.T) {
	c := NewTexts[string]()
	made := 0
	get := func(text, language string) string {
		s, err := c.Get(text, language, func(text, language string) (string, error) {
			made++
			return language + ":" + text, nil
		})
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	for range 3 {
		if get("rope", "en") != "en:rope" || get("rope", "de") != "de:rope" {
			t.Fatal("not what was made")
		}
	}
	if made != 2 {
		t.Errorf("made %d times", made)
	}
	filler := strings.Repeat("x", 1000)
	for i := range 20_000 {
		get(fmt.Sprint(i, filler), "en")
		if i%1000 == 0 {
			get("rope", "en") // asked for again and again: it stays
		}
		size := 0
		if i%5000 == 0 {
			for _, half := range []map[text]sized[string]{c.made.new, c.made.old} {
				for k := range half {
					size += len(k.text)
				}
			}
		}
		if size > 2*textsSize {
			t.Fatalf("%d bytes of texts are remembered", size)
		}
	}
	made = 0
	if get("rope", "en"); made != 0 {
		t.Error("what was asked for last is forgotten")
	}
	if get("rope", "de"); made != 1 {
		t.Error("what was not asked for is still there")
	}
	if get(strings.Repeat("y", textsSize), "en"); len(c.made.new) < 2 {
		t.Error("one long text drives all others out")
	}
	failed := errors.New("failed")
	for range 2 {
		if _, err := c.Get("bad", "en", func(string, string) (string, error) { return "", failed }); !errors.Is(err, failed) {
			t.Error("an error is remembered, or lost:", err)
		}
	}
}
