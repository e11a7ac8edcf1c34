package index

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/webindexer/indexer/index/analysis"
	"github.com/webindexer/indexer/index/completion"
	"github.com/webindexer/indexer/index/query"
	"github.com/webindexer/indexer/index/search"
	"github.com/webindexer/indexer/index/sketch"
	"github.com/webindexer/indexer/index/spelling"
	"github.com/webindexer/indexer/page"
)

// An index that is not made of files, such as one on a search server, has its own
// [search.Session]. What else it needs of this package is here and in scoretexts.go, so that it
// analyses, shows and scores documents as the files do.

// ErrUnusable means that an index refuses every write and will go on refusing, because it is
// read-only or was removed.
var ErrUnusable = errors.New("the index cannot be written")

// Portable is a document ready to be stored somewhere else.
type Portable struct {
	Columns          analysis.Columns
	Words            spelling.Words // for suggestions
	Outline          []byte         // of the text
	Head, Rest       []byte         // of the text, for UnpackText; Rest may be nil
	Members, Anchors string         // JSON
	Headings         string         // for AnchorMatcher
	Stemmer          string         // "" if there is none for the language
	// Sketch and Translations show whether two documents are alike (sketches.go).
	Sketch       []byte
	Translations int64
	// Host and Sample show what a site repeats on many of its pages (repeats.go).
	Host   string
	Sample []uint16
}

// MakePortable checks a change and analyses its document, which must not be nil. Errors wrap
// [ErrInvalid].
func MakePortable(c *Change) (*Portable, error) {
	p, err := newPrepared(c)
	if err != nil {
		return nil, err
	}
	p.makeBody(new(spelling.Vocabulary))
	d, b := p.Doc, p.body
	out := &Portable{
		Columns: b.columns, Words: b.spelled, Outline: b.outline, Head: b.head, Rest: b.rest,
		Members: p.members, Anchors: p.anchors, Headings: b.headings,
		Sketch: b.sketch[:], Translations: b.translations,
		Host: search.HostOf(d.URL), Sample: sketch.UnpackSample(b.sample),
	}
	if st := analysis.StemmerFor(d.Language); st != nil {
		out.Stemmer = st.Name
	}
	return out, nil
}

// Repeated says which sampled shingles a host repeats on many of its pages. The zero value
// says that it repeats none.
type Repeated struct{ set repeatedShingles }

// RepeatedSlots is above every number of a shingle in a sample.
const RepeatedSlots = sketch.Slots

// NewRepeated takes the number of documents of a host in which each shingle is sampled. total
// is the sum of all these counts. Counts below two may be missing, as they never say that
// anything is repeated.
func NewRepeated(documents, total int64, counts map[uint16]int32) Repeated {
	if documents <= fewPages {
		return Repeated{}
	}
	r := repeatedText{documents: documents}
	for slot, n := range counts {
		r.counts[slot%sketch.Slots] = n
	}
	return Repeated{r.repeatedBy(total)}
}

// ReadLists reads the lists of a Portable.
func ReadLists(members, anchors string) (m []page.URL, a []Anchor, err error) {
	if err := fromJSON([]byte(members), &m); err != nil {
		return nil, nil, err
	}
	return m, a, fromJSON([]byte(anchors), &a)
}

// PackText compresses a text, with a checksum.
func PackText(text string) []byte { return packPart(text) }

// UnpackText returns the text of the parts, concatenated. Damage wraps [ErrCorrupt].
func UnpackText(parts ...[]byte) (string, error) { return unpack(parts...) }

// PackTime returns nanoseconds since 1970, 0 for an unknown time; UnpackTime does the reverse.
func PackTime(t time.Time) int64    { return packTime(t) }
func UnpackTime(ns int64) time.Time { return unpackTime(ns) }

// Completions completes typed text in an index that does not consist of files. The zero
// value is ready to use. It is safe for concurrent use.
type Completions struct{ completions }

// MaxCompleted is the maximum number of documents in a table of completions: those with the
// highest ranks.
const MaxCompleted = completion.MaxDocuments

// Find answers a question about a state of the index. When the table has to be made, fill calls add
// with each document, and with the anchors of a Portable.
func (c *Completions) Find(ctx context.Context, state State, q *search.CompletionQuestion, fill func(ctx context.Context, add func(u page.URL, language, title, anchors string, rank float64) error) error) ([]search.Completion, error) {
	return c.find(ctx, state, q, func(ctx context.Context, b *completion.Builder) error {
		return fill(ctx, func(u page.URL, language, title, anchors string, rank float64) error {
			return addCompletions(b, string(u), language, title, anchors, rank)
		})
	})
}

// ShowText sets what a hit shows of its text. Outline and head are those of a Portable, and
// more says whether it has a Rest.
func ShowText(h *search.Hit, outline, head []byte, more bool, c *query.Query, repeated Repeated) error {
	if err := showText(h, outline, head, more, c, repeated.set.has); err != nil {
		return fmt.Errorf("%s: %w", h.URL, err)
	}
	return nil
}

// ShowMembers sets the duplicates of a hit from the members of a Portable.
func ShowMembers(h *search.Hit, members string) (err error) {
	h.Duplicates, err = duplicates([]byte(members), h.URL)
	return err
}
