package crawler

import (
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"iter"
	"path"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/cespare/xxhash/v2"

	"github.com/webindexer/indexer/page"
)

// shingles is the content of a page as hashes of every three words in a row of its title
// and text, sorted and without duplicates. Words with digits, names of months and days,
// and the page's own path are left out, so that a page with a clock in it always has
// the same shingles. If a page has next to no text, the words of its body are used.
//
// Two answers for paths that cannot exist need not be equal (a quotation, an
// advertisement, a number in words). What they have in common is the answer; what one
// of them has beyond it is the slack. A page matches if it contains the whole answer,
// and beyond it no more than the slack. Answers that vary by more than maxSlack are
// unusable: with them a short page could pass for one.
//
// Rejected: a threshold of similarity (of shingles or of a SimHash). Pages of one site
// share their navigation, and a short page with a long navigation is more similar to
// the answer than any threshold that lets an answer vary. The message is what matters,
// and the answers have it in common.
type shingles []uint32

const (
	maxShingles  = 1024 // hashes; the smallest are kept, so that equal pages keep equal ones
	maxSlack     = 6    // two words
	shingleWords = 3
)

// notFoundAnswer is how a host says "not found".
type notFoundAnswer struct {
	Common shingles `json:"common,omitempty"`
	Slack  int      `json:"slack,omitempty"`
}

func (a *notFoundAnswer) known() bool { return len(a.Common) > 0 }

// answerOf compares two answers; the result is unknown if they vary too much.
func answerOf(a, b shingles) notFoundAnswer {
	var common shingles
	for _, hash := range a {
		if b.has(hash) {
			common = append(common, hash)
		}
	}
	slack := max(len(a), len(b)) - len(common)
	if slack > maxSlack {
		return notFoundAnswer{}
	}
	return notFoundAnswer{Common: common, Slack: slack}
}

func (a *notFoundAnswer) matches(s shingles) bool {
	if len(s) < len(a.Common) || len(s) > len(a.Common)+a.Slack {
		return false
	}
	for _, hash := range a.Common {
		if !s.has(hash) {
			return false
		}
	}
	return true
}

func (s shingles) has(hash uint32) bool {
	_, found := slices.BinarySearch(s, hash)
	return found
}

// shinglesOf returns false for a fetch that is not a page.
func shinglesOf(f *page.Fetch) (shingles, bool) {
	doc := page.Interpret(f)
	if doc.Outcome != page.Page {
		return nil, false
	}
	const minText = 64 // as for content keys (docs/semantics.md section 3)
	said := doc.Title + "\n" + doc.Text
	if utf8.RuneCountInString(doc.Text) < minText {
		said = string(f.Body)
	}
	for _, own := range []string{string(f.URL), f.URL.Path(), path.Base(f.URL.Path())} {
		if len(strings.Trim(own, "/")) >= 4 {
			said = strings.ReplaceAll(said, own, " ")
		}
	}
	return newShingles(lastingWords(said)), true
}

// timeWords are words of dates and times of day.
var timeWords = func() map[string]bool {
	words := make(map[string]bool)
	for word := range strings.FieldsSeq(`monday tuesday wednesday thursday friday saturday sunday mon tue wed thu fri sat sun
		january february march april may june july august september october november december
		jan feb mar apr jun jul aug sep sept oct nov dec am pm gmt utc`) {
		words[word] = true
	}
	return words
}()

// lastingWords yields the words of a text that do not tell the time.
func lastingWords(text string) iter.Seq[string] {
	return func(yield func(string) bool) {
		for word := range strings.FieldsFuncSeq(strings.ToLower(text), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) }) {
			if !timeWords[word] && !strings.ContainsFunc(word, unicode.IsDigit) && !yield(word) {
				return
			}
		}
	}
}

// newShingles takes the words one by one, and sorts its hashes whenever there are twice as many
// as it keeps: a large page has millions of words.
func newShingles(words iter.Seq[string]) shingles {
	var s shingles
	var last []string // words; at most shingleWords
	var joined []byte
	add := func() {
		joined = joined[:0]
		for i, word := range last {
			if i > 0 {
				joined = append(joined, ' ')
			}
			joined = append(joined, word...)
		}
		if s = append(s, uint32(xxhash.Sum64(joined))); len(s) == 2*maxShingles {
			s = s.smallest()
		}
	}
	for word := range words {
		if len(last) == shingleWords {
			last = slices.Delete(last, 0, 1)
		}
		if last = append(last, word); len(last) == shingleWords {
			add()
		}
	}
	if len(last) < shingleWords {
		add()
	}
	return s.smallest()
}

// smallest sorts hashes, and drops duplicates and those that are too many.
func (s shingles) smallest() shingles {
	slices.Sort(s)
	s = slices.Compact(s)
	return s[:min(len(s), maxShingles)]
}

// MarshalJSON writes the hashes as four bytes each, in base64.
func (s shingles) MarshalJSON() ([]byte, error) {
	var b []byte
	for _, hash := range s {
		b = binary.BigEndian.AppendUint32(b, hash)
	}
	return json.Marshal(base64.StdEncoding.EncodeToString(b))
}

// UnmarshalJSON reverses MarshalJSON.
func (s *shingles) UnmarshalJSON(text []byte) error {
	var b []byte
	if err := json.Unmarshal(text, &b); err != nil {
		return err
	}
	if len(b)%4 != 0 || len(b) > 4*maxShingles {
		return fmt.Errorf("hashes of a page cannot have %d bytes", len(b))
	}
	*s = nil
	for ; len(b) > 0; b = b[4:] {
		*s = append(*s, binary.BigEndian.Uint32(b))
	}
	if !slices.IsSorted(*s) {
		return fmt.Errorf("hashes of a page are not sorted")
	}
	return nil
}
