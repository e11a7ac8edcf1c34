package index

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"indexer/page"
)

// Weights are chosen by asking the same queries with many of them. All that FTS5 knows about
// a match and that weights have no part in is therefore read once, and the
// ranking done again in memory, which takes a hundredth of the time of a search.
//
// FTS5's bm25() gives a document, with c over columns, i over the phrases of the expression,
//
//	Σi idf(i)·(k1+1)·f(i)/(f(i)+K),  f(i) = Σc weight(c)·occurrences(i,c)
//
// where K depends on the length of the document. Asked for one phrase and one column it is s =
// idf·(k1+1)·o/(o+K), so that o/K = g/(1-g) with g = s/(idf·(k1+1)). These quotients are all
// that is needed: f/(f+K) = x/(x+1) with x = Σc weight(c)·o(c)/K. Whatever else the search does is
// done by the search's own functions. TestTrials holds the two together.

// Trials ranks queries with any weights. Its view must stay open for [Trials.Prepare]. Not safe
// for concurrent use.
type Trials struct {
	v         *View
	stemmers  []*stemmer
	documents map[int64]*trialDocument
	phrases   map[phrase]*posting
}

type trialDocument struct {
	candidate
	anchors []Anchor
}

// phrase is an FTS5 phrase and the columns it is looked for in, "" for all.
type phrase struct{ columns, text string }

func (p phrase) expr() string {
	if p.columns == "" {
		return p.text
	}
	return p.columns + " : " + p.text
}

// posting is where a phrase is: by document, the occurrences in each column, divided by K.
type posting struct {
	gain float64 // idf·(k1+1)
	at   map[int64]*[weighedColumns]float64
}

const (
	weighedColumns = 5   // title, body, anchors, outside, url
	bm25K1         = 1.2 // of FTS5
)

// Trials reads what all queries need, which is less than a kilobyte a document.
func (v *View) Trials(ctx context.Context) (*Trials, error) {
	inUse, err := v.stemmers(ctx)
	if err != nil {
		return nil, fmt.Errorf("index %s: trials: %w", v.dir, err)
	}
	t := &Trials{v: v, stemmers: inUse, documents: make(map[int64]*trialDocument), phrases: make(map[phrase]*posting)}
	if err := t.readDocuments(ctx); err != nil {
		return nil, fmt.Errorf("index %s: trials: %w", v.dir, err)
	}
	return t, nil
}

func (t *Trials) readDocuments(ctx context.Context) (err error) {
	rows, err := t.v.tx.QueryContext(ctx, "SELECT d.id, "+candidateColumns+", d.anchors FROM docs d CROSS JOIN ranks r ON r.id=d.id")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	for rows.Next() {
		var d trialDocument
		var stored []byte
		if err := rows.Scan(&d.id, &d.rank, &d.url, &d.language, &d.title, &stored); err != nil {
			return err
		}
		if err := fromJSON(stored, &d.anchors); err != nil {
			return err
		}
		t.documents[d.id] = &d
	}
	return rows.Err()
}

// posting reads where a phrase is, once.
func (t *Trials) posting(ctx context.Context, p phrase) (_ *posting, err error) {
	if known := t.phrases[p]; known != nil {
		return known, nil
	}
	rows, err := t.v.tx.QueryContext(ctx, `SELECT rowid, -bm25(fts,1,0,0,0,0,0), -bm25(fts,0,1,0,0,0,0), -bm25(fts,0,0,1,0,0,0), -bm25(fts,0,0,0,1,0,0), -bm25(fts,0,0,0,0,1,0)
		FROM fts WHERE fts MATCH ?`, p.expr())
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	out := &posting{at: make(map[int64]*[weighedColumns]float64)}
	for rows.Next() {
		var id int64
		x := new([weighedColumns]float64)
		if err := rows.Scan(&id, &x[0], &x[1], &x[2], &x[3], &x[4]); err != nil {
			return nil, err
		}
		out.at[id] = x
	}
	n, have := float64(len(t.documents)), float64(len(out.at))
	idf := math.Log((n - have + 0.5) / (have + 0.5))
	if idf <= 0 {
		idf = 1e-6 // as FTS5 has it
	}
	out.gain = idf * (bm25K1 + 1)
	for _, x := range out.at {
		for c := range x {
			g := x[c] / out.gain
			x[c] = g / (1 - g)
		}
	}
	t.phrases[p] = out
	return out, rows.Err()
}

// Trial is a query that is ready to be ranked with any weights. Not safe for concurrent use,
// but different trials can be searched at once.
type Trial struct {
	all, named, some trialMatches
	documents        map[int64]*matched
}

// trialMatches are the documents that an expression matches.
type trialMatches struct {
	list []trialMatch
	// best are the first of them by BM25 with the weights of columns in by. Other weights do not change them.
	best []candidate
	by   [weighedColumns]float64
}

// matched is a document and what of it does not depend on weights.
type matched struct {
	*trialDocument
	titleMatch, anchorMatch float64
}

// trialMatch is a document that an expression matches.
type trialMatch struct {
	doc   *matched
	parts []trialPart
}

type trialPart struct {
	of *posting
	x  *[weighedColumns]float64
}

// Prepare reads all that ranking a query needs. Only queries with words are ranked.
func (t *Trials) Prepare(ctx context.Context, query string) (*Trial, error) {
	c, err := compileQuery(query, t.stemmers)
	if err != nil {
		return nil, err
	}
	if len(c.terms) == 0 {
		return nil, &UsageError{"the query has no words to rank by"}
	}
	q := &Trial{documents: make(map[int64]*matched)}
	if err := t.prepare(ctx, c, q); err != nil {
		return nil, fmt.Errorf("index %s: trial: %w", t.v.dir, err)
	}
	for _, d := range q.documents {
		d.titleMatch = overlap(nameWords(d.title, d.language), c.words)
		d.anchorMatch = anchorMatch(d.anchors, d.language, c.words)
	}
	return q, nil
}

// prepare follows search.candidates: what is asked for does not depend on weights.
func (t *Trials) prepare(ctx context.Context, c *compiled, q *Trial) (err error) {
	if q.all, err = t.matches(ctx, c, q, c.expr(allWords)); err != nil {
		return err
	}
	if len(q.all.list) > rerankTop {
		if q.named, err = t.matches(ctx, c, q, c.named()); err != nil {
			return err
		}
	}
	if len(q.all.list) >= FillBelow {
		return nil
	}
	s := &search{v: t.v, c: c}
	if err := s.markCommon(ctx); err != nil {
		return err
	}
	for b := someWords; b <= plainWord && len(q.some.list) == 0 && err == nil; b++ {
		if expr := c.expr(b); expr != "" {
			q.some, err = t.matches(ctx, c, q, expr)
		}
	}
	return err
}

// scoredPhrases are what bm25() adds up for an expression, in its order. Tags weigh nothing.
func scoredPhrases(expr string) (list []phrase, err error) {
	e, err := parseMatch(expr)
	if err != nil {
		return nil, err
	}
	e.scored(func(m *matchExpr) {
		if r := firstRune(m.phrase.tokens); r < firstTag || r > lastTag {
			list = append(list, phrase{columnSet(m.in), m.phrase.String()})
		}
	})
	return list, nil
}

// matches are the documents that an expression matches, and where its phrases are in them.
func (t *Trials) matches(ctx context.Context, c *compiled, q *Trial, expr string) (_ trialMatches, err error) {
	phrases, err := scoredPhrases(expr)
	if err != nil {
		return trialMatches{}, err
	}
	var list []trialMatch
	var postings []*posting
	for _, p := range phrases {
		found, err := t.posting(ctx, p)
		if err != nil {
			return trialMatches{}, err
		}
		postings = append(postings, found)
	}
	rows, err := t.v.tx.QueryContext(ctx, "SELECT rowid FROM fts WHERE fts MATCH ?"+c.fetched.condition("fts.rowid"), expr)
	if err != nil {
		return trialMatches{}, err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	for rows.Next() {
		var id int64
		if err := rows.Scan(&id); err != nil {
			return trialMatches{}, err
		}
		if q.documents[id] == nil {
			q.documents[id] = &matched{trialDocument: t.documents[id]}
		}
		m := trialMatch{doc: q.documents[id]}
		for _, p := range postings {
			if x := p.at[id]; x != nil {
				m.parts = append(m.parts, trialPart{p, x})
			}
		}
		list = append(list, m)
	}
	return trialMatches{list: list}, rows.Err()
}

// TrialOptions of a trial.
type TrialOptions struct {
	Weights Weights
	PerHost int
	// NoNamed leaves out the documents that are looked at for their titles and anchors
	// (step 4 in docs/ranking.md).
	NoNamed bool
}

// Search is what [View.Search] gives, up to the tenth hit.
func (q *Trial) Search(o TrialOptions) []page.URL {
	found := q.tier(&q.all, rerankTop, nil, o)
	if len(q.all.list) < FillBelow {
		found = append(found, q.tier(&q.some, rerankTop+FillBelow, found, o)...)
	}
	list := make([]page.URL, 0, firstPage)
	for _, c := range found[:min(len(found), firstPage)] {
		list = append(list, c.url)
	}
	return list
}

// tier follows search.tier.
func (q *Trial) tier(matches *trialMatches, n int, above []candidate, o TrialOptions) []candidate {
	found := matches.byText(n, &o.Weights)
	top := min(len(found), rerankTop)
	if len(matches.list) > rerankTop && len(q.named.list) > 0 && !o.NoNamed {
		found, top = addNamed(found, q.named.byText(rerankTop, &o.Weights))
	}
	sortByTitle(found[:top], &o.Weights)
	if o.Weights.AnchorMatch != 0 {
		sortByAnchor(found[:top], &o.Weights)
	}
	found = without(found, above)
	if o.PerHost > 0 {
		found = spreadHosts(above, found, matches.otherHosts(above, found, &o), o.PerHost)
	}
	return found
}

// otherHosts follows search.otherHosts.
func (m *trialMatches) otherHosts(above, found []candidate, o *TrialOptions) []candidate {
	hosts := crowdedHosts(above, found, o.PerHost)
	if len(hosts) == 0 || len(m.list) <= rerankTop {
		return nil
	}
	var others trialMatches
	for _, match := range m.list {
		if !underHost(match.doc.url.Host(), hosts) {
			others.list = append(others.list, match)
		}
	}
	more := without(without(others.byText(anchorTop, &o.Weights), found[:min(len(found), rerankTop)]), above)
	sortByTitle(more, &o.Weights)
	if o.Weights.AnchorMatch != 0 {
		sortByAnchor(more, &o.Weights)
	}
	return more
}

// byText follows search.byText: the best n by BM25, those of equal scores by row id. n is
// always the same for the same matches.
func (m *trialMatches) byText(n int, w *Weights) []candidate {
	weights := [weighedColumns]float64{w.Title, w.Body, w.Anchors, w.Outside, w.URL}
	if m.best != nil && m.by == weights {
		return slices.Clone(m.best)
	}
	type scored struct {
		text float64
		*matched
	}
	order := func(a, b scored) int {
		return cmp.Or(cmp.Compare(b.text, a.text), cmp.Compare(a.id, b.id))
	}
	top := make([]scored, 0, n+1)
	for i := range m.list {
		s := scored{m.list[i].text(&weights), m.list[i].doc}
		if len(top) == n && order(s, top[n-1]) > 0 {
			continue
		}
		at, _ := slices.BinarySearchFunc(top, s, order)
		top = slices.Insert(top, at, s)[:min(len(top)+1, n)]
	}
	m.best, m.by = make([]candidate, 0, len(top)), weights
	for _, s := range top {
		c := s.candidate
		c.text, c.score, c.titleMatch, c.anchorMatch = s.text, s.text, s.titleMatch, s.anchorMatch
		m.best = append(m.best, c)
	}
	return slices.Clone(m.best)
}

func (m *trialMatch) text(weights *[weighedColumns]float64) (text float64) {
	for _, p := range m.parts {
		x := 0.0
		for c, w := range weights {
			x += w * p.x[c]
		}
		text += p.of.gain * x / (x + 1)
	}
	return text
}
