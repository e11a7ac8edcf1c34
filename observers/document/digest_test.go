package document

import (
	"context"
	"testing"
	"time"

	"github.com/webindexer/indexer/page"
)

// texts is a memory with another text.
type texts struct {
	*memory
	text Text
}

// TestDigest: the digest of a document depends on all that it shows, but for times and ranks.
func TestDigest(t *testing.T) {
	t.Parallel()
	const a, b, x page.URL = "https://m.example/a", "https://m.example/bb", "https://x.example/"
	digest := func(change func(*texts, *Choice)) [8]byte {
		m := &texts{newMemory(), Text{Title: "title", Text: "text", Language: "en"}}
		m.member(a)
		m.member(b)
		m.link(x, a, "one", "two")
		c := Choice{Canonical: a, Members: 2, Rank: 1}
		change(m, &c)
		assembly, err := Begin(t.Context(), m, Limits{}, c)
		if err != nil {
			t.Fatal(err)
		}
		read(t, m, assembly, 100)
		return assembly.Document().Digest
	}
	seen := map[[8]byte]string{digest(func(*texts, *Choice) {}): "nothing"}
	for _, c := range []struct {
		name   string
		change func(*texts, *Choice)
		same   bool
	}{
		{"title", func(m *texts, _ *Choice) { m.text.Title = "titl" }, false},
		{"text", func(m *texts, _ *Choice) { m.text.Text = "other" }, false},
		{"where the title ends", func(m *texts, _ *Choice) { m.text.Title, m.text.Language = "titlee", "n" }, false},
		{"language", func(m *texts, _ *Choice) { m.text.Language = "de" }, false},
		{"outline", func(m *texts, _ *Choice) { m.text.Outline = "outline" }, false},
		{"canonical URL", func(_ *texts, c *Choice) { c.Canonical = b }, false},
		{"number of members", func(_ *texts, c *Choice) { c.Members = 3 }, false},
		{"another member", func(m *texts, _ *Choice) { m.member("https://m.example/c") }, false},
		{"anchor", func(m *texts, _ *Choice) { m.link(x, a, "one", "three") }, false},
		{"source", func(m *texts, _ *Choice) { m.link(x, a); m.link("https://y.example/", a, "one", "two") }, false},
		{"fetch time", func(m *texts, _ *Choice) { m.fetched = time.Unix(1, 0) }, true},
		{"rank", func(_ *texts, c *Choice) { c.Rank = 2 }, true},
		{"rank of a source", func(m *texts, _ *Choice) { m.ranks[x] = 2 }, true},
	} {
		d := digest(c.change)
		if before, known := seen[d]; known != c.same {
			t.Errorf("%s: the digest is that of a change of %q: %t, want %t", c.name, before, known, c.same)
		}
		seen[d] = c.name
	}
}

func (m *texts) Text(context.Context, page.URL) (Text, error) { return m.text, nil }
