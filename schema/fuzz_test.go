package schema

import (
	"reflect"
	"testing"
)

// maxFuzzed bounds what a fuzzed value may make its decoder unpack: the bound of
// the product is for values a hundred times as large.
const maxFuzzed = 1 << 16

// FuzzDecode gives arbitrary bytes to every decoder. None may panic, or allocate
// out of proportion; what one accepts, it must accept again, equal, after encoding.
func FuzzDecode(f *testing.F) {
	all := codecs()
	for _, c := range all {
		if b := c.encode(); len(b) < maxFuzzed {
			f.Add(b)
		}
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		if len(b) > maxFuzzed {
			return
		}
		again(t, b, StoredText.Encode, DecodeText)
		again(t, b, URLState.Encode, DecodeURLState)
		again(t, b, StoredChain.Encode, DecodeChain)
		again(t, b, EncodeLinks, DecodeLinks)
		again(t, b, StoredInversion.Encode, DecodeInversion)
		again(t, b, StoredDiscovery.Encode, DecodeDiscovery)
		again(t, b, EncodeAnchors, DecodeAnchors)
		again(t, b, EncodeURLs, DecodeURLs)
		again(t, b, EncodeTime, DecodeTime)
		again(t, b, FetchStamp.Encode, DecodeFetchStamp)
		again(t, b, encodeStoredFetch, decodeStoredFetch)
		again(t, b, StoredForm.Encode, DecodeForm)
		again(t, b, Failure.Encode, DecodeFailure)
		again(t, b, StoredPropagation.Encode, DecodePropagation)
		again(t, b, StoredIndexed.Encode, DecodeIndexed)
		again(t, b, EncodeBody, DecodeBody)
		again(t, b, StoredIndexSum.Encode, DecodeIndexSum)
		again(t, b, StoredRankState.Encode, DecodeRankState)
		again(t, b, StoredEdges.Encode, DecodeEdges)
		again(t, b, EncodeRankPart, DecodeRankPart)
		again(t, b, StoredJournal.Encode, DecodeJournal)
		again(t, b, EncodeTolerance, DecodeTolerance)
		again(t, b, EncodeCorrection, DecodeCorrection)
		again(t, b, StoredChoice.Encode, DecodeChoice)
		again(t, b, StoredSummary.Encode, DecodeSummary)
		again(t, b, FrontierEntry.Encode, DecodeEntry)
		again(t, b, Variants.Encode, DecodeVariants)
	})
}

func again[T any](t *testing.T, b []byte, encode func(T) []byte, decode func([]byte) (T, error)) {
	t.Helper()
	v, err := decode(b)
	if err != nil {
		return
	}
	w, err := decode(encode(v))
	if err != nil || !reflect.DeepEqual(v, w) && !bothEmpty(v, w) {
		t.Errorf("%x decodes to %v, and that, encoded, to %v (%v)", b, v, w, err)
	}
}

// FuzzParseRow: what is accepted as a row is the row of what it was parsed to.
func FuzzParseRow(f *testing.F) {
	f.Add(URLRow(someURL))
	f.Add(PairRow(someURL, otherURL))
	f.Add(MemberRow([32]byte{1}, MemberInfo{URL: someURL, Eligible: true}))
	f.Add(ClusterRow([32]byte{2}))
	f.Add(VariantRow("https://a.example", "b&c", someURL))
	f.Fuzz(func(t *testing.T, row string) {
		if u, err := ParseURLRow(row); err == nil && URLRow(u) != row {
			t.Errorf("URL row %q: %s", row, u)
		}
		if target, source, err := ParsePairRow(row); err == nil && PairRow(target, source) != row {
			t.Errorf("pair row %q: %s %s", row, target, source)
		}
		if k, m, err := ParseMemberRow(row); err == nil && MemberRow(k, m) != row {
			t.Errorf("member row %q: %v", row, m)
		}
		if host, names, without, err := ParseVariantRow(row); err == nil && VariantRow(host, names, without) != row {
			t.Errorf("variant row %q: %s %s %s", row, host, names, without)
		}
		if k, err := ParseClusterRow(row); err == nil && ClusterRow(k) != row {
			t.Errorf("cluster row %q: %s", row, k)
		}
	})
}
