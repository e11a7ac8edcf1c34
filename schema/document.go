package schema

import (
	"cmp"
	"encoding/binary"
	"slices"

	"github.com/webindexer/indexer/page"
)

// StoredText is title, text, language and outline of a page.
type StoredText struct {
	Title, Text, Language string
	Outline               string // as page.Document has it
}

// NewStoredText returns the text of an interpreted page.
func NewStoredText(d *page.Document) StoredText {
	return StoredText{Title: d.Title, Text: d.Text, Language: d.Language, Outline: d.Outline}
}

// CheckSize is the function CheckSize for what Encode compresses.
func (t StoredText) CheckSize() error {
	const lengths = 4 * binary.MaxVarintLen64
	return CheckSize(len(t.Title) + len(t.Language) + len(t.Text) + len(t.Outline) + lengths)
}

// Encode encodes the text for Text.
func (t StoredText) Encode() []byte {
	return packBuilt(t.encode)
}

// encode leaves out an empty outline. Texts written by versions that knew no outlines have none.
func (t StoredText) encode(e enc) enc {
	e = e.string(t.Title).string(t.Language).string(t.Text)
	if t.Outline != "" {
		e = e.string(t.Outline)
	}
	return e
}

// DecodeText decodes a text.
func DecodeText(b []byte) (t StoredText, err error) {
	err = readUnpacked(b, "text", func(d dec) error {
		t = StoredText{Title: d.Text(), Language: d.Text(), Text: d.Text()}
		if len(d.Rest()) > 0 {
			if t.Outline = d.Text(); t.Outline == "" {
				d.Fail() // an empty one is left out
			}
		}
		return d.done("text")
	})
	return t, err
}

// URLState is the part of a URL's fetch in force that clustering needs.
type URLState struct {
	Outcome  page.Outcome
	NoIndex  bool
	NoFollow bool
	// Target is the URL that this one redirects to, or names as canonical, whether or not
	// that counts.
	Target page.URL
	Key    page.ContentKey // of a page
	// Sum is a digest of title, text, language and outline, which an index document shows.
	Sum [8]byte
}

// NewURLState returns the state of an interpreted page.
func NewURLState(d *page.Document) URLState {
	s := URLState{Outcome: d.Outcome, NoIndex: d.NoIndex, NoFollow: d.NoFollow, Target: d.Target, Key: d.Key}
	if d.Outcome == page.Page {
		s.Sum = sumOf(d)
	}
	return s
}

// sumOf computes URLState.Sum. The content key covers title and text, except for a page with
// almost no text: its key is that of the body, whose text also depends on the character set.
func sumOf(d *page.Document) (sum [8]byte) {
	t := NewStoredText(d)
	if len(t.Text) >= page.MinKeyed {
		t.Text = ""
	}
	full := sumBuilt(func(e enc) enc { return append(t.encode(e), d.Key[:]...) })
	copy(sum[:], full[:])
	return sum
}

// Encode encodes the state for State.
func (s URLState) Encode() []byte {
	e := enc(nil).byte(byte(s.Outcome)).byte(flags(s.NoIndex, s.NoFollow)).string(string(s.Target))
	if s.Outcome == page.Page {
		e = append(append(e, s.Key[:]...), s.Sum[:]...)
	}
	return e
}

// DecodeURLState decodes a state.
func DecodeURLState(b []byte) (URLState, error) {
	d := newDec(b)
	s := URLState{Outcome: page.Outcome(d.Byte())}
	f := d.Byte()
	s.NoIndex, s.NoFollow = f&1 != 0, f&2 != 0
	s.Target = page.URL(d.Text())
	if s.Outcome == page.Page {
		s.Key, s.Sum = d.array32(), d.array8()
	}
	return s, d.done("state")
}

func flags(list ...bool) (b byte) {
	for i, f := range list {
		if f {
			b |= 1 << i
		}
	}
	return b
}

// TargetLinks are the links of a page to one target.
type TargetLinks struct {
	Target  page.URL
	Anchors []string // ascending
}

// GroupLinks groups links by target, in the order in which the groups are stored.
func GroupLinks(links []page.Link) []TargetLinks {
	links = slices.Clone(links)
	slices.SortFunc(links, func(a, b page.Link) int {
		return cmp.Or(cmp.Compare(a.Target, b.Target), cmp.Compare(a.Anchor, b.Anchor))
	})
	anchors := make([]string, len(links))
	var groups []TargetLinks
	for i, first := 0, 0; i < len(links); i++ {
		anchors[i] = links[i].Anchor
		if i+1 == len(links) || links[i+1].Target != links[first].Target {
			groups = append(groups, TargetLinks{links[first].Target, anchors[first : i+1 : i+1]})
			first = i + 1
		}
	}
	return groups
}

// EncodeLinks encodes links as one part, for Links and Inverted.
func EncodeLinks(groups []TargetLinks) []byte {
	return packBuilt(func(e enc) enc { return e.links(groups) })
}

// DecodeLinks decodes links that are stored as one part; nil bytes mean no links. It refuses
// a part of a longer list.
func DecodeLinks(b []byte) ([]TargetLinks, error) {
	if b == nil {
		return nil, nil
	}
	return DecodeLinkParts([][]byte{b})
}

// EncodeAnchors encodes anchors for Anchors.
func EncodeAnchors(anchors []string) []byte { return enc(nil).strings(anchors) }

// DecodeAnchors decodes anchors.
func DecodeAnchors(b []byte) ([]string, error) {
	d := newDec(b)
	a := d.strings()
	return a, d.done("anchors")
}

// EncodeURLs encodes URLs for Pending and Frames.
func EncodeURLs(urls []page.URL) []byte { return enc(nil).urls(urls) }

func (e enc) urls(list []page.URL) enc {
	e = e.uint(uint64(len(list)))
	for _, u := range list {
		e = e.string(string(u))
	}
	return e
}

// DecodeURLs decodes URLs; nil bytes mean no URLs.
func DecodeURLs(b []byte) ([]page.URL, error) {
	if b == nil {
		return nil, nil
	}
	d := newDec(b)
	list := d.strings()
	urls := make([]page.URL, len(list))
	for i, s := range list {
		urls[i] = page.URL(s)
	}
	return urls, d.done("URLs")
}
