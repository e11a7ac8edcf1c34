package search

import (
	"math"
	"strings"
	"testing"

	"github.com/webindexer/indexer/index/analysis"
	"github.com/webindexer/indexer/index/query"
	"github.com/webindexer/indexer/internal/testenv"
)

func overlapOf(t *testing.T, words, name, language string) float64 {
	t.Helper()
	var inUse []*analysis.Stemmer
	for _, l := range []string{"de", "en", "fr", "ru"} {
		inUse = append(inUse, analysis.StemmerFor(l))
	}
	c, err := query.Compile(words, inUse, false)
	if err != nil {
		t.Fatalf("%s: %v", words, err)
	}
	n := MakeName(name, language)
	return n.Overlap(c.Words)
}

func TestOverlap(t *testing.T) {
	for _, c := range []struct {
		query, name, language string
		want                  float64
	}{
		// The same, in any writing.
		{"Tides at the harbour", "Tides at the Harbour!", "en", 1},
		{"to be or not to be", "To be, or not to be", "en", 1},
		{"running runs", "Running Runs", "en", 1},
		{"kafka.consumer 0.11.0.2", "kafka.consumer (0.11.0.2)", "en", 1},
		{"如何参与贡献 | Apache Flink", "如何参与贡献 | Apache Flink", "zh", 1},
		{"京", "京", "ja", 1},
		{"Häuser", "HÄUSER", "de", 1},
		{`"tides at" intitle:harbour inurl:tides`, "Tides at harbour", "en", 1},
		// Words more, on either side.
		{"harbour", "harbour museum", "en", 0.5},
		{"harbour museum", "harbour", "en", 0.5},
		{"harbour ferry", "harbour museum", "en", 0.25},
		{"東京", "東京都", "ja", 0.5},
		{"京", "東京都", "ja", partly * partly},
		{"2.0", "Version 2.4", "en", 1.0 / 6},
		// Identifiers as a whole and in parts.
		{"ByteArraySerializer", "ByteArraySerializer", "en", 1},
		{"bytearrayserializer", "ByteArraySerializer (tool API)", "en", 1.0 / 3},
		{"byte array serializer", "ByteArraySerializer", "en", 1},
		{"byte array serializer", "ByteArraySerializer (tool API)", "en", 3.0 / 5},
		{"http server", "HTTPServer", "en", 1},
		{"map function", "mapFunction", "en", 1},
		// Of a dotted name, the last part is what the page is about.
		{"stats mean", "tool.stats.mean", "en", 2.0 / 3},
		{"tool stats", "tool.stats.mean", "en", qualifier * qualifier * 2 / 3},
		{"tool stats", "Statistics (tool.stats)", "en", 2.0 / 3},
		{"tool stats", "tool.stats.mean of stats", "en", (qualifier + 1) / 2 * (qualifier + 1) / 3.2},
		{"tool stats means", "tool.stats.mean", "en", (2 + inflected) / 3 * (2 + inflected) / 3},
		{"tool", "tool.stats.mean, tool.stats.median", "en", qualifier * qualifier / 4},
		{"tool", "tool 1.2.3", "en", 1.0 / 4},
		{"node", "node.js", "en", 1.0 / 2},
		// Other forms of a word.
		{"museum", "museums", "en", inflected * inflected},
		{"museum", "museums", "", 0},
		{"новости", "новость", "ru", inflected * inflected},
		// Neighbouring words that the name writes as one.
		{"harbour master", "harbourmaster", "en", 1},
		{"harbour masters", "harbourmaster", "en", inflected * inflected},
		{"harbour master house", "harbourmaster-5", "en", 2.0 / 3 / 2},
		// The number of a chapter or of a section of manual pages counts only if the query has it.
		{"harbour", "4.2. Harbour", "en", 1},
		{"harbour", "Appendix B: Harbour", "en", 1},
		{"harbour", "Town guide: 3.1 Harbour", "en", 1.0 / 3},
		{"harbour 4", "4. Harbour", "en", 1},
		{"appendix harbour", "Appendix B. Harbour", "en", 2.0 / 2},
		{"harbour", "4 harbour", "en", 0.5},
		{"harbour master", "harbourmaster(5)", "en", 1},
		{"harbour", "harbour (5)", "en", 0.5},
		{"harbour", "4.2. ⚓", "en", 0},
		{"4.2 harbour", "4.2. ⚓", "en", 2.0 / 3},
		// Other words for a word, but not if the query has both.
		{"delete ferry", "Remove a ferry", "en", (synonymous + 1) / 2 * (synonymous + 1) / 2.2},
		{"ferry introduction", "Getting started: ferry", "en", (synonymous + 1) / 2 * (2*synonymous + 1) / 3},
		{"delete or remove", "Remove", "en", 1 / 2.2},
		{`"delete" ferry`, "Remove a ferry", "en", 0.5 / 2.2},
		{"master harbour", "harbourmaster", "en", 0},
		{"harbour old master", "harbourmaster", "en", 0},
		// Stop words hardly matter beside others.
		{"list of ships", "List of the tools", "en", 1.2 * 1.2 / (2.2 * 2.4)},
		{"list ships", "ship list", "en", (1 + inflected) / 2 * (1 + inflected) / 2},
		{"to be", "to be or not", "en", 0.5},
		// Nothing.
		{"ferry", "museum", "en", 0},
		{"ferry", "", "en", 0},
		{"ferry", "…", "en", 0},
		{"inurl:ferry", "ferry", "en", 0},
	} {
		if got := overlapOf(t, c.query, c.name, c.language); !(math.Abs(got-c.want) <= 1e-9) { // also if it is not a number
			t.Errorf("%q, %q: %v, want %v", c.query, c.name, got, c.want)
		}
	}
}

// TestOverlapBounds: no query is more of a name than all of it, and a name is all of itself.
func TestOverlapBounds(t *testing.T) {
	rng := testenv.Random(t)
	text := func() string {
		var list []string
		for range 1 + rng.IntN(40) {
			list = append(list, commonWords[rng.IntN(len(commonWords))])
		}
		return strings.Join(list, " ")
	}
	for range 300 {
		a, b := text(), text()
		if got := overlapOf(t, a, b, "en"); !(got >= 0 && got <= 1+1e-9) {
			t.Fatalf("%q, %q: %v", a, b, got)
		}
		if len(strings.Fields(a)) > query.MaxClauses {
			continue
		}
		if got := overlapOf(t, a, a, "en"); math.Abs(got-1) > 1e-9 {
			t.Fatalf("%q and itself: %v", a, got)
		}
	}
}

// commonWords are few, so that names and queries share some by chance.
var commonWords = strings.Fields("harbour harbours museum ferry ferries the of running runs 東京都 京都 max.poll rope salt nets tide salt-rope saltrope C++ of-the")
