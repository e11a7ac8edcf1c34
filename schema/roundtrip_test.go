package schema

import (
	"bytes"
	"errors"
	"math"
	"net/http"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/webindexer/indexer/page"
	"github.com/webindexer/indexer/store"
)

// codec is a stored value: what it encodes to decodes to it again.
type codec struct {
	name   string
	value  any
	encode func() []byte
	decode func([]byte) (any, error)
}

func codecOf[T any](name string, value T, encode func(T) []byte, decode func([]byte) (T, error)) codec {
	return codec{
		name: name, value: value,
		encode: func() []byte { return encode(value) },
		decode: func(b []byte) (any, error) { v, err := decode(b); return v, err },
	}
}

// storedFetch is what EncodeContent keeps of a fetch.
type storedFetch struct {
	fetch page.Fetch
	sum   [32]byte
}

func encodeStoredFetch(f storedFetch) []byte { return EncodeContent(&f.fetch, f.sum) }

func decodeStoredFetch(b []byte) (storedFetch, error) {
	f, sum, err := DecodeContent(b)
	return storedFetch{f, sum}, err
}

const someURL, otherURL = page.URL("https://a.example/x"), page.URL("http://b.example/?y=%C3%A4")

var someTime = time.Date(2024, 2, 29, 23, 59, 59, 123456789, time.UTC)

func codecs() []codec {
	someKey := page.ContentKey{1, 2, 31: 3}
	long := strings.Repeat("Wörter 世界 ", 10_000)
	headers := http.Header{"Content-Type": {"text/html"}, "Link": {"<x>; rel=canonical", "<y>"}, "X-Robots-Tag": {""}}
	var list []codec
	add := func(c codec) { list = append(list, c) }
	for _, t := range []StoredText{{}, {Title: "T", Text: "t", Language: "en"}, {Text: long}} {
		add(codecOf("text", t, StoredText.Encode, DecodeText))
	}
	for _, s := range []URLState{
		{Outcome: page.Gone}, {Outcome: page.Redirect, Target: someURL, NoIndex: true}, {Outcome: page.Redirect},
		{Outcome: page.Page, Key: someKey, Sum: [8]byte{7: 9}, NoFollow: true}, {Outcome: page.Page, Target: otherURL},
	} {
		add(codecOf("state", s, URLState.Encode, DecodeURLState))
	}
	for _, w := range []StoredChain{
		nil, {{URL: someURL, Outcome: page.Page, Key: someKey}},
		{{URL: someURL, Outcome: page.Redirect, NoIndex: true}, {URL: otherURL}}, slices.Repeat(StoredChain{{URL: otherURL, Outcome: page.Page}}, MaxChain),
	} {
		add(codecOf("walk", w, StoredChain.Encode, DecodeChain))
	}
	for _, g := range [][]TargetLinks{nil, {{Target: someURL, Anchors: []string{""}}, {Target: otherURL, Anchors: []string{"a", long}}}} {
		add(codecOf("links", g, EncodeLinks, DecodeLinks))
	}
	add(codecOf("inversion", StoredInversion{Links: 1 << 60, Old: LinkPlace{3, 4000}, Now: LinkPlace{0, 1}}, StoredInversion.Encode, DecodeInversion))
	add(codecOf("discovery", StoredDiscovery{Links: 1 << 60, Depth: 4, Part: 200}, StoredDiscovery.Encode, DecodeDiscovery))
	for _, a := range [][]string{{}, {""}, {"a", "ä"}} {
		add(codecOf("anchors", a, EncodeAnchors, DecodeAnchors))
	}
	for _, u := range [][]page.URL{{}, {someURL, otherURL}} {
		add(codecOf("URLs", u, EncodeURLs, DecodeURLs))
	}
	for _, t := range []time.Time{earliest, latest, time.Unix(0, 0).UTC(), someTime} {
		add(codecOf("time", t, EncodeTime, DecodeTime))
		add(codecOf("fetch time", FetchStamp{Time: t, Sum: [32]byte{0: 255}}, FetchStamp.Encode, DecodeFetchStamp))
	}
	add(codecOf("fetch content", storedFetch{fetch: page.Fetch{Status: 200, Header: headers}, sum: [32]byte{5}}, encodeStoredFetch, decodeStoredFetch))
	add(codecOf("fetch content", storedFetch{fetch: page.Fetch{Status: 200, Header: headers, Office: true}}, encodeStoredFetch, decodeStoredFetch))
	add(codecOf("fetch content", storedFetch{fetch: page.Fetch{Status: 200, Header: headers, Reading: page.Reading{Version: 3, Failed: true, Sum: [32]byte{1, 31: 2}}}}, encodeStoredFetch, decodeStoredFetch))
	add(codecOf("fetch content", storedFetch{fetch: page.Fetch{Status: 200, Header: headers, Resource: true}}, encodeStoredFetch, decodeStoredFetch))
	for _, f := range []StoredForm{
		{}, {Version: 3, Page: ContentDigest{1}, Why: "few words", Failure: NoBrowser, Stale: []page.URL{someURL}},
		{Version: 1 << 40, Inputs: []RenderInput{{URL: someURL, Content: ContentDigest{15: 1}}, {URL: otherURL}}, Console: []string{"", "error: x"}, HTML: []byte(long)},
	} {
		add(codecOf("rendered form", f, StoredForm.Encode, DecodeForm))
	}
	add(codecOf("fetch content", storedFetch{fetch: page.Fetch{Header: http.Header{}}}, encodeStoredFetch, decodeStoredFetch))
	add(codecOf("failure", Failure{Time: someTime, Status: 503, Reason: "HTTP status 503"}, Failure.Encode, DecodeFailure))
	add(codecOf("spread", StoredPropagation{Chain: 1 << 60, Next: PairRow(someURL, otherURL)}, StoredPropagation.Encode, DecodePropagation))
	add(codecOf("index document", StoredIndexed{URL: someURL, Members: 3000, Inlinks: 20_000, Rank: 12.5, Sum: [8]byte{1}}, StoredIndexed.Encode, DecodeIndexed))
	for _, m := range []StoredRankState{NoRankState, {Inlinks: 3, In: 1.25, Out: 1 << 20, Pushed: 1e-300, Rank: 1e300}} {
		add(codecOf("mass", m, StoredRankState.Encode, DecodeRankState))
	}
	for _, p := range [][]RankChange{
		{{Row: "x", State: NoRankState}},
		{{Row: "a/b", State: NoRankState, Moved: true}, {Row: "a/bc", State: StoredRankState{Inlinks: 3, In: 1.25, Out: 1 << 20, Pushed: 2, Rank: 3}, Again: true}, {Row: "b", State: NoRankState, Moved: true, Again: true}},
	} {
		add(codecOf("part of the journal of ranks", p, EncodeRankPart, DecodeRankPart))
	}
	for _, j := range []StoredJournal{{0, 1}, {99, 100}} {
		add(codecOf("journal of ranks", j, StoredJournal.Encode, DecodeJournal))
	}
	for _, e := range []StoredEdges{{}, {Links: 1 << 60, State: 7, Targets: []string{"com.example/https/a", "com.example/https/ab", "x", "x/y"}}} {
		add(codecOf("edges", e, StoredEdges.Encode, DecodeEdges))
	}
	add(codecOf("choice", StoredChoice{Among: [8]byte{3}, URL: someURL}, StoredChoice.Encode, DecodeChoice))
	for _, v := range []StoredSummary{{}, {Incomplete: true}, {Members: 128, Rank: 20.5, Unlinked: 3, First: 1.5, Second: 0.25, Among: 1 << 63}} {
		add(codecOf("section", v, StoredSummary.Encode, DecodeSummary))
	}
	for _, s := range []StoredIndexSum{{}, {Documents: 3, Sum: 1<<63 + 5}, {Documents: max(-1<<40, math.MinInt), Sum: 1}} {
		add(codecOf("sum of index documents", s, StoredIndexSum.Encode, DecodeIndexSum))
	}
	add(codecOf("correction", -1e-9, EncodeCorrection, DecodeCorrection))
	add(codecOf("rank tolerance", 0.01, EncodeTolerance, DecodeTolerance))
	for _, e := range someEntries() {
		add(codecOf("frontier entry", e, FrontierEntry.Encode, DecodeEntry))
	}
	for _, v := range []Variants{{First: someURL}, {First: someURL, Spare: someURL, Checks: 3, Differ: true, Seen: []uint32{1, 1 << 31}}} {
		add(codecOf("row of variants", v, Variants.Encode, DecodeVariants))
	}
	for _, b := range [][]byte{{}, []byte(long)} {
		add(codecOf("body", b, EncodeBody, DecodeBody))
	}
	return list
}

func TestRoundTrip(t *testing.T) {
	for _, c := range codecs() {
		b := c.encode()
		got, err := c.decode(b)
		if err != nil {
			t.Errorf("%s %.80v: %v", c.name, c.value, err)
			continue
		}
		if !reflect.DeepEqual(got, c.value) && !bothEmpty(got, c.value) {
			t.Errorf("%s: got %.200v, want %.200v", c.name, got, c.value)
		}
	}
}

// bothEmpty: a slice comes back empty where it was nil, or the other way round.
func bothEmpty(a, b any) bool {
	v, w := reflect.ValueOf(a), reflect.ValueOf(b)
	return v.Kind() == reflect.Slice && v.Len() == 0 && w.Len() == 0
}

// TestDamagedValues: values that were cut short, or that continue after their end, are
// refused; the error matches the sentinel for a damaged store, and names the value.
func TestDamagedValues(t *testing.T) {
	for _, c := range codecs() {
		b := c.encode()
		for _, damaged := range [][]byte{b[:len(b)-1], append(slices.Clone(b), 0), b[:len(b)/2]} {
			if len(damaged) == 0 {
				continue
			}
			_, err := c.decode(damaged)
			if !errors.Is(err, store.ErrCorrupt) || !strings.Contains(err.Error(), "stored") {
				t.Errorf("%s: %d of %d bytes: %v", c.name, len(damaged), len(b), err)
			}
		}
	}
}

// TestNothingStored: columns that may be absent decode to nothing.
func TestNothingStored(t *testing.T) {
	walk, err1 := DecodeChain(nil)
	links, err2 := DecodeLinks(nil)
	urls, err3 := DecodeURLs(nil)
	spread, err4 := DecodePropagation(nil)
	if err := errors.Join(err1, err2, err3, err4); err != nil || walk != nil || links != nil || urls != nil || spread != (StoredPropagation{}) {
		t.Errorf("%v %v %v %v, %v", walk, links, urls, spread, err)
	}
}

// TestContentEquality: headers that do not matter change nothing, those that do
// change the content; so do status and body.
func TestContentEquality(t *testing.T) {
	base := page.Fetch{Status: 200, Header: http.Header{"Content-Type": {"text/html"}, "Date": {"today"}, "Set-Cookie": {"a"}}}
	content := EncodeContent(&base, [32]byte{1})
	same := page.Fetch{Status: 200, Header: http.Header{"Content-Type": {"text/html"}, "Date": {"tomorrow"}}, Body: []byte("x"), Time: someTime}
	if !bytes.Equal(content, EncodeContent(&same, [32]byte{1})) {
		t.Error("a header that does not matter changed the content")
	}
	if bytes.Equal(content, EncodeContent(&base, [32]byte{2})) {
		t.Error("another body is the same content")
	}
	for _, name := range keptHeaders {
		other := page.Fetch{Status: 200, Header: base.Header.Clone()}
		other.Header.Add(name, "y")
		if bytes.Equal(content, EncodeContent(&other, [32]byte{1})) {
			t.Errorf("another %s is the same content", name)
		}
	}
}

// TestStorableTime: times beyond what can be stored keep their order, instead of
// wrapping around.
func TestStorableTime(t *testing.T) {
	far, near := time.Date(9999, 1, 1, 0, 0, 0, 0, time.UTC), someTime
	for _, c := range []struct{ in, want time.Time }{
		{time.Time{}, earliest}, {far, latest}, {near, near}, {earliest, earliest}, {latest, latest}, {latest.Add(1), latest},
	} {
		got, err := DecodeTime(EncodeTime(c.in))
		if err != nil || !got.Equal(c.want) {
			t.Errorf("%v is stored as %v (%v), want %v", c.in, got, err, c.want)
		}
	}
}

// TestNewer: of two fetches the later one is newer, in whatever zone its time is, and of two with the same
// time the one with the greater digest.
func TestNewer(t *testing.T) {
	at := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	later := at.Add(time.Nanosecond)
	small, great := FetchStamp{Time: at, Sum: [32]byte{0: 1}}, FetchStamp{Time: at.In(time.FixedZone("", 3600)), Sum: [32]byte{31: 1, 0: 1}}
	list := []FetchStamp{small, great, {Time: later}, {Time: later, Sum: [32]byte{9}}} // ascending
	for i, a := range list {
		for j, b := range list {
			if got := a.Newer(b); got != (i > j) {
				t.Errorf("%+v is newer than %+v: %t", a, b, got)
			}
		}
	}
}

// TestFormIsOwn: what was decoded does not change when another value is decoded.
func TestFormIsOwn(t *testing.T) {
	want := StoredForm{HTML: bytes.Repeat([]byte("one"), 100)}
	got, err := DecodeForm(want.Encode())
	if err != nil {
		t.Fatal(err)
	}
	inBuffer(func(empty []byte) []byte { // as the next one does
		clear(empty[:cap(empty)])
		return empty
	})
	if !bytes.Equal(got.HTML, want.HTML) {
		t.Errorf("the form is now %.20q", got.HTML)
	}
}

// TestGroupLinks: links are in the order of their targets and anchors, and the caller's list stays as it is.
func TestGroupLinks(t *testing.T) {
	links := []page.Link{{Target: "b", Anchor: "2"}, {Target: "a", Anchor: "3"}, {Target: "b", Anchor: "1"}, {Target: "a", Anchor: "0"}}
	before := slices.Clone(links)
	got := GroupLinks(links)
	if want := []TargetLinks{{"a", []string{"0", "3"}}, {"b", []string{"1", "2"}}}; !reflect.DeepEqual(got, want) || !slices.Equal(links, before) {
		t.Errorf("%v become %v, want %v", links, got, want)
	}
	got[0].Anchors = append(got[0].Anchors, "4")
	if got[1].Anchors[0] != "1" {
		t.Errorf("an anchor that was added has replaced one of the next target: %v", got)
	}
}
