package index

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/webindexer/indexer/index/analysis"
	"github.com/webindexer/indexer/index/postings"
	"github.com/webindexer/indexer/index/query"
	"github.com/webindexer/indexer/index/search"
	"github.com/webindexer/indexer/internal/testenv"
	"github.com/webindexer/indexer/page"
)

// scoring is the scores of the documents of a view for a query.
type scoring struct {
	shard   *viewShard
	c       *query.Query
	weights search.Weights
}

// byFTS5 returns what SQLite gives: the best n documents by bm25(), with their rows. It is the reference of
// scores, and the baseline of their speed.
func (s *scoring) byFTS5(ctx context.Context, expr string, n int) ([]search.Found, error) {
	return s.shard.scan(ctx, "SELECT x.rowid, -x.rank, 0, "+candidateColumns+`
		FROM (SELECT rowid, rank FROM fts WHERE fts MATCH ? AND rank MATCH ?`+fetchedIn(s.c.Fetched, "fts.rowid")+` ORDER BY rank LIMIT ?) x
		CROSS JOIN docs d ON d.id=x.rowid CROSS JOIN ranks r ON r.id=x.rowid
		ORDER BY x.rank, x.rowid`, expr, rankFunction(&s.weights), n)
}

// byText returns what a search asks for: the best n documents, and how many match.
func (s *scoring) byText(ctx context.Context, expr *query.Expr, n int) ([]search.Found, int, error) {
	st, err := s.shard.Statistics(ctx, expr.Scored())
	if err != nil {
		return nil, 0, err
	}
	return s.shard.Best(ctx, &search.BestQuestion{Matching: search.Matching{Expr: expr, Fetched: s.c.Fetched}, N: n, Weights: s.weights, Statistics: st})
}

// compiled returns a query for an index with these stemmers.
func compiled(q string, stemmers []string) (*query.Query, error) {
	return (&search.HitsQuestion{Query: q, Stemmers: stemmers}).Compiled()
}

// rankFunction returns the weights as FTS5's rank configuration, whose parser knows no
// exponents; the tags weigh nothing.
func rankFunction(w *search.Weights) string {
	list := make([]string, 0, allColumns)
	for _, x := range weightsOf(w) {
		list = append(list, strconv.FormatFloat(x, 'f', -1, 64))
	}
	return "bm25(" + strings.Join(list, ",") + ")"
}

// TestScores holds matching and scoring to FTS5's: of random queries on random documents, some of them replaced and
// some deleted, every expression that a search asks matches the same documents with the same scores.
func TestScores(t *testing.T) {
	sizes := []int{1, 40, 600}
	if testing.Short() {
		sizes = sizes[:2]
	}
	for _, size := range sizes {
		t.Run(fmt.Sprint(size), func(t *testing.T) {
			testScores(t, size, testenv.Random(t))
		})
	}
}

func testScores(t *testing.T, size int, rng *rand.Rand) {
	dir := t.TempDir()
	w := openTestWriter(t, dir)
	scoredDocuments(t, w, size, rng)
	r := openTestReader(t, dir)
	v, err := r.Snapshot(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer v.Close()
	names, err := v.stemmers(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	compared := 0
	queries := 60
	if testing.Short() {
		queries = 15
	}
	for n := range queries {
		text := func(n int) string { return randomWords(rng, n) }
		asked, grouped := operatorQuery(rng, text), rng.IntN(3) == 0
		if grouped {
			asked = groupedQuery(rng, text)
		}
		asked += []string{"", " after:2024", " before:2024-06"}[rng.IntN(3)]
		c, err := compiled(asked, names)
		if usage := (*search.UsageError)(nil); errors.As(err, &usage) {
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		s := &scoring{&viewShard{v: v}, c, randomWeights(rng)}
		for _, expr := range []*query.Expr{c.Expr(query.AllWords), c.Expr(query.SomeWords), c.Named()} {
			compared += sameAsFTS5(t, s, asked, expr, grouped)
		}
		if n%6 == 0 && !grouped {
			sameColumns(t, s, asked)
		}
		anyHasAll(t, s, asked)
	}
	for _, asked := range []string{"of-the", "the of-the", "of-the-of", "of.the"} { // of stop words alone
		c, err := compiled(asked, names)
		if err != nil {
			t.Fatal(err)
		}
		anyHasAll(t, &scoring{shard: &viewShard{v: v}, c: c}, asked)
	}
	if size > 1 && compared < size {
		t.Errorf("%d scores compared, which tells nothing", compared)
	}
}

func randomWords(rng *rand.Rand, n int) string {
	var list []string
	for range n {
		list = append(list, fewWords[min(rng.IntN(len(fewWords)), rng.IntN(len(fewWords)))])
	}
	return strings.Join(list, " ")
}

// scoredDocuments writes documents in several transactions; a third is replaced or deleted later.
func scoredDocuments(t testing.TB, w *Writer, size int, rng *rand.Rand) {
	changes := scoredChanges(size, rng)
	for len(changes) > 0 {
		n := min(1+rng.IntN(80), len(changes))
		apply(t, w, changes[:n]...)
		changes = changes[n:]
	}
}

func scoredChanges(size int, rng *rand.Rand) (changes []Change) {
	add := func(i int, seq uint64) {
		u := page.URL(fmt.Sprintf("https://site%d.example/%s/%d", i%9, fewWords[i%5], i))
		d := &Document{
			Cluster: key(string(u)), Seq: seq, URL: u, Language: []string{"en", "ja", "de", ""}[rng.IntN(4)],
			Title: randomWords(rng, rng.IntN(5)), Text: randomWords(rng, rng.IntN(60)), FetchedAt: packedDay(rng.IntN(700)), Rank: rng.ExpFloat64(),
		}
		for range rng.IntN(4) {
			d.Anchors = append(d.Anchors, Anchor{Text: randomWords(rng, 1+rng.IntN(3)), Count: 1 + rng.IntN(3), Others: rng.IntN(2)})
		}
		changes = append(changes, Upsert(d))
	}
	for i := range size {
		add(i, 1)
	}
	for range size / 3 {
		i := rng.IntN(size)
		u := changes[i].Doc
		if rng.IntN(4) == 0 {
			changes = append(changes, Delete(u.Cluster, 2+rng.Uint64N(5)))
		} else {
			add(i, 2+rng.Uint64N(5))
		}
	}
	return changes
}

// sameAsFTS5 compares the whole lists of an expression and gives their length.
func sameAsFTS5(t *testing.T, s *scoring, asked string, expr *query.Expr, grouped bool) int {
	t.Helper()
	const all = 10_000
	want, err := s.byFTS5(t.Context(), expr.String(), all)
	if err != nil {
		t.Fatalf("%s: %s: %v", asked, expr, err)
	}
	got, total, err := s.byText(t.Context(), expr, all)
	if err != nil || total != len(want) || len(got) != len(want) {
		t.Fatalf("%s: %s: %d documents, total %d, FTS5 has %d (%v)", asked, expr, len(got), total, len(want), err)
	}
	scores := map[int64]float64{}
	for _, c := range want {
		scores[c.ID] = c.Score
	}
	if grouped {
		scores = phraseScores(t, s, expr)
	}
	for i, c := range got {
		if x := scores[c.ID]; math.Abs(c.Score-x) > 1e-12*max(x, 1) {
			t.Fatalf("%s: %s: document %d has %v, FTS5 has %v", asked, expr, c.ID, c.Score, x)
		}
		if i > 0 && (got[i-1].Score < c.Score || got[i-1].Score == c.Score && got[i-1].URL > c.URL) {
			t.Fatalf("%s: %s: document %d before %d", asked, expr, got[i-1].ID, c.ID)
		}
	}
	for _, n := range []int{1, 7, 100} { // a longer list begins with the shorter one
		part, _, err := s.byText(t.Context(), expr, n)
		if err != nil || !slices.Equal(part, got[:min(n, len(got))]) {
			t.Fatalf("%s: %s: the best %d are not the first %d of all (%v)", asked, expr, n, n, err)
		}
	}
	return len(got)
}

// phraseScores adds up what FTS5 gives for each phrase of an expression alone. It is the
// reference where groups exclude words: bm25() of the whole expression also counts a phrase
// that an exclusion inside a group has, in documents that match by another side of the OR.
func phraseScores(t *testing.T, s *scoring, expr *query.Expr) map[int64]float64 {
	t.Helper()
	scores := make(map[int64]float64)
	for _, m := range expr.Scored() {
		list, err := s.byFTS5(t.Context(), columnSet(m.In)+" : "+m.Phrase.String(), 10_000)
		if err != nil {
			t.Fatalf("%s: %v", expr, err)
		}
		for _, c := range list {
			scores[c.ID] += c.Score
		}
	}
	return scores
}

// columnSet returns a set of columns as FTS5 has it.
func columnSet(in postings.Columns) string {
	var names []string
	for i, name := range analysis.ColumnNames {
		if in&(1<<i) != 0 {
			names = append(names, name)
		}
	}
	return "{" + strings.Join(names, " ") + "}"
}

// anyHasAll: documents with all the words have some of them, or the total would be below the
// number found.
func anyHasAll(t *testing.T, s *scoring, asked string) {
	t.Helper()
	x, err := s.shard.text(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	all, err := x.matching(t.Context(), s.c.Expr(query.AllWords))
	if err != nil {
		t.Fatal(err)
	}
	some, err := x.matching(t.Context(), s.c.Expr(query.SomeWords))
	if err != nil {
		t.Fatal(err)
	}
	if len(s.c.Terms) > 0 && len(subtract(all, some)) > 0 {
		t.Fatalf("%s: of %d documents with %s, %d are not among those with %s", asked, len(all), s.c.Expr(query.AllWords), len(subtract(all, some)), s.c.Expr(query.SomeWords))
	}
}

// sameColumns compares the scores that a search explains for each column alone.
func sameColumns(t *testing.T, s *scoring, asked string) {
	t.Helper()
	w := s.weights
	res, err := s.shard.v.Search(t.Context(), asked, search.Options{Weights: w, Explain: true, Unfold: true, Verbatim: true, Limit: 20})
	if err != nil {
		t.Fatal(err)
	}
	for column, alone := range map[string]search.Weights{"title": {Title: w.Title}, "body": {Body: w.Body}, "anchors": {Anchors: w.Anchors}, "outside": {Outside: w.Outside}, "url": {URL: w.URL}, "rest": {Rest: w.Rest}} {
		by := &scoring{s.shard, s.c, alone}
		some := by.scores(t, query.SomeWords)
		if len(some) == 0 { // then a search accepts any word
			some = by.scores(t, query.AnyWord)
		}
		for tier, want := range map[string]map[page.URL]float64{"all words": by.scores(t, query.AllWords), "some words": some} {
			for _, h := range res.Hits {
				if h.Explanation.Tier != tier {
					continue
				}
				x := h.Explanation.Columns
				got := map[string]float64{"title": x.Title, "body": x.Body, "anchors": x.Anchors, "outside": x.Outside, "url": x.URL, "rest": x.Rest}[column]
				score, found := want[h.URL]
				if !found || math.Abs(got-score) > 1e-12*max(score, 1) {
					t.Fatalf("%s: %s, %s: %v, FTS5 has %v (found: %t)", asked, h.URL, column, got, score, found)
				}
			}
		}
	}
}

// scores are FTS5's scores of all documents of a breadth.
func (s *scoring) scores(t *testing.T, b query.Breadth) map[page.URL]float64 {
	t.Helper()
	list, err := s.byFTS5(t.Context(), s.c.Expr(b).String(), 10_000)
	if err != nil {
		t.Fatal(err)
	}
	scores := make(map[page.URL]float64, len(list))
	for _, c := range list {
		scores[c.URL] = c.Score
	}
	return scores
}

func packedDay(n int) time.Time { return time.Date(2023, 6, 1, 0, 0, 0, 0, time.UTC).AddDate(0, 0, n) }

// fewWords are few, so that queries match many documents and words are adjacent by chance.
var fewWords = strings.Fields("harbour harbours museum ferry ferries the of running runs 東京都 京都 max.poll rope salt nets tide salt-rope saltrope C++ of-the")

// operatorQuery has words, and some operators after them.
func operatorQuery(rng *rand.Rand, text func(int) string) string {
	parts := []string{`"` + text(2) + `"`, "intitle:" + text(1), "inurl:" + text(1), "-" + text(1), "-intitle:" + text(1), "site:site1.example", "京 nothing", "lang:en"}
	asked := text(1 + rng.IntN(4))
	for range rng.IntN(4) {
		asked += " " + parts[rng.IntN(len(parts))]
	}
	return asked
}

// groupedQuery has alternatives and groups in it.
func groupedQuery(rng *rand.Rand, text func(int) string) string {
	var side func(depth int) string
	side = func(depth int) string {
		switch n := rng.IntN(12); {
		case n < 4 && depth < 3:
			return "(" + side(depth+1) + " OR " + side(depth+1) + " " + side(depth+1) + ")"
		case n < 5:
			return "(" + text(1) + " -" + text(1) + ")"
		}
		return []string{text(1), text(1), `"` + text(2) + `"`, "intitle:" + text(1), "site:site1.example", "lang:en", "(" + text(2) + ")", "intitle:(" + text(2) + ")"}[rng.IntN(8)]
	}
	return text(1) + " " + side(0) + " OR " + side(0) + []string{"", " " + text(1), " -(" + text(2) + ")"}[rng.IntN(3)]
}

func randomWeights(rng *rand.Rand) search.Weights {
	x := func(most float64) float64 {
		if rng.IntN(4) == 0 {
			return 0
		}
		return rng.Float64() * most
	}
	return search.Weights{Title: x(40), Body: 0.1 + x(2), Anchors: x(20), Outside: x(40), URL: x(10), Rest: x(2), TitleMatch: x(40), AnchorMatch: x(8), Rank: x(0.2), Typed: x(8)}
}
