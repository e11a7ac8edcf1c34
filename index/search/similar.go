package search

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/webindexer/indexer/page"
)

// ErrNotIndexed means that the index has no document with a URL.
var ErrNotIndexed = errors.New("the index has no document with this URL")

// SimilarOptions are the options of [Similar]. The zero value gives the first 20 pages
// with a similarity of at least 0.8.
type SimilarOptions struct {
	Limit     int     // pages to list, 1 to MaxResults; 0 means 20
	Threshold float64 // the least similarity, above 0, at most 1; 0 means 0.8
}

// SimilarPages are the pages whose main content is similar to that of one page, in the JSON of
// `indexer similar`.
type SimilarPages struct {
	URL       page.URL `json:"url"` // canonical URL of the document
	Title     string   `json:"title"`
	Threshold float64  `json:"threshold"`
	Total     int      `json:"total"` // pages that are similar
	// Incomplete names the shards that did not answer, and says why. Their pages are missing.
	Incomplete []string      `json:"incomplete,omitempty"`
	TookMS     float64       `json:"took_ms"`
	Pages      []SimilarPage `json:"pages"` // the most similar ones first; never nil
}

// SimilarPage is a page that is similar to another one. The title is what the page says, so
// code that displays it has to escape it.
type SimilarPage struct {
	URL        page.URL `json:"url"`
	Title      string   `json:"title"`
	Language   string   `json:"language"`
	Similarity float64  `json:"similarity"` // estimated by sketches, at most 1
}

// SimilarQuestion asks which document has the URL Of. If Of is empty, it asks for
// documents that are like a sketch.
type SimilarQuestion struct {
	Of        page.URL
	Sketch    []byte
	Except    page.URL // the document of the sketch
	Threshold float64
	N         int
}

// SimilarAnswer answers a SimilarQuestion.
type SimilarAnswer struct {
	// Document is the document that was asked for, if the shard has it.
	Document *SketchedDocument
	Pages    []SimilarPage // in order
	Total    int
}

// SketchedDocument is a document with its sketch, which is empty if it is unknown.
type SketchedDocument struct {
	URL    page.URL
	Title  string
	Sketch []byte
}

// SortSimilar returns the first n of similar pages: the most similar first, then by URL.
func SortSimilar(list []SimilarPage, n int) []SimilarPage {
	slices.SortFunc(list, func(a, b SimilarPage) int {
		return cmp.Or(cmp.Compare(b.Similarity, a.Similarity), cmp.Compare(a.URL, b.URL))
	})
	list = firstOfEach(list, func(p *SimilarPage) page.URL { return p.URL }) // see merged
	return list[:min(n, len(list))]
}

func (o *SimilarOptions) check() error {
	o.Limit, o.Threshold = cmp.Or(o.Limit, 20), cmp.Or(o.Threshold, foldSimilarity)
	if o.Limit < 1 || o.Limit > MaxResults || !(o.Threshold > 0 && o.Threshold <= 1) {
		return &UsageError{Reason: fmt.Sprintf("limit %d, similarity %v: out of range", o.Limit, o.Threshold)}
	}
	return nil
}

// Similar lists the pages of one shard whose main content is similar to that of the document with a
// URL, or with a member of that URL. Errors: [ErrNotIndexed], [UsageError].
func Similar(ctx context.Context, in Session, u page.URL, opts SimilarOptions) (*SimilarPages, error) {
	begun := time.Now()
	if err := opts.check(); err != nil {
		return nil, err
	}
	res, err := similarPages(ctx, newFanout(in), u, &opts)
	if err != nil {
		return nil, err
	}
	res.TookMS = float64(time.Since(begun).Microseconds()) / 1000
	return res, nil
}

// Similar is [Similar] on the newest state of all shards that answer. If one does not that may have the
// document, the error matches [ErrUnavailable].
func (s *Shards) Similar(ctx context.Context, u page.URL, opts SimilarOptions) (res *SimilarPages, err error) {
	begun := time.Now()
	if err := opts.check(); err != nil {
		return nil, err
	}
	missing, err := s.use(ctx, func(ctx context.Context, f *fanout) (err error) {
		res, err = similarPages(ctx, f, u, &opts)
		return err
	})
	if errors.Is(err, ErrNotIndexed) && len(missing) > 0 {
		err = fmt.Errorf("%s is not in the parts of the index that answer: %w: %s", u, ErrUnavailable, strings.Join(missing, "; "))
	}
	if err != nil {
		return nil, err
	}
	res.Incomplete = missing
	res.TookMS = float64(time.Since(begun).Microseconds()) / 1000
	return res, nil
}

// similarPages asks all shards for the document, and then for similar documents.
func similarPages(ctx context.Context, f *fanout, u page.URL, o *SimilarOptions) (*SimilarPages, error) {
	answers, err := f.askAll(ctx, &Question{Similar: &SimilarQuestion{Of: u}})
	if err != nil {
		return nil, err
	}
	var doc *SketchedDocument
	for _, a := range answers {
		if d := a.Similar.Document; d != nil && (doc == nil || d.URL == u) {
			doc = d
		}
	}
	if doc == nil {
		return nil, fmt.Errorf("%s: %w", u, ErrNotIndexed)
	}
	res := &SimilarPages{URL: doc.URL, Title: doc.Title, Threshold: o.Threshold, Pages: []SimilarPage{}}
	if len(doc.Sketch) == 0 {
		return res, nil
	}
	answers, err = f.askAll(ctx, &Question{Similar: &SimilarQuestion{Sketch: doc.Sketch, Except: doc.URL, Threshold: o.Threshold, N: o.Limit}})
	if err != nil {
		return nil, err
	}
	for _, a := range answers {
		res.Pages = append(res.Pages, a.Similar.Pages...)
		res.Total += a.Similar.Total
	}
	res.Pages = SortSimilar(res.Pages, o.Limit)
	return res, nil
}
