package schema

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/webindexer/indexer/page"
	"github.com/webindexer/indexer/store"
	"github.com/webindexer/indexer/txn"
)

// Lists that are cut come back as they were, whatever the size of the parts; none of
// those is larger than it may be; and a list that fits into one part is stored as it was
// before there were parts.
func TestParts(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 0))
	for range 2000 {
		most := PartSize{Entries: 1 + random.IntN(6), Bytes: 20 + random.IntN(200)}
		links := someLinks(random)
		parts := EncodeLinkParts(links, most)
		if got, err := DecodeLinkParts(parts); err != nil || !reflect.DeepEqual(got, links) && len(got)+len(links) > 0 {
			t.Fatalf("%v in %v: got %v, %v", links, most, got, err)
		}
		for i, b := range parts {
			groups, _, err := DecodeLinkPart(b)
			entries, bytes := 0, 0
			for _, g := range groups {
				n, b := sizeOfLinks(g)
				entries, bytes = entries+n, bytes+b
			}
			if err != nil || entries > most.Entries || bytes > most.Bytes && entries > 1 {
				t.Fatalf("%v in %v: part %d has %d entries of %d bytes, %v", links, most, i, entries, bytes, err)
			}
		}
		if len(parts) == 1 && !slices.Equal(parts[0], EncodeLinks(links)) {
			t.Fatalf("%v: one part is not what it was", links)
		}
		edges := StoredEdges{Links: random.Uint64(), State: 7}
		for _, l := range links {
			edges.Targets = append(edges.Targets, URLRow(l.Target))
		}
		rows := edges.EncodeParts(most)
		if got, err := decodeEdgeParts(rows); err != nil || !reflect.DeepEqual(got, edges) {
			t.Fatalf("%v in %v: got %v, %v", edges, most, got, err)
		}
		if len(rows) == 1 && !slices.Equal(rows[0], edges.Encode()) {
			t.Fatalf("%v: one part is not what it was", edges)
		}
		if len(parts) > 1 {
			_, err1 := DecodeLinks(parts[0])
			_, err2 := DecodeLinkParts(parts[:len(parts)-1])
			_, err3 := decodeEdgeParts(append(rows, rows[0]))
			for _, err := range []error{err1, err2, err3} {
				if !errors.Is(err, store.ErrCorrupt) {
					t.Fatalf("parts that are missing, or too many: %v", err)
				}
			}
		}
	}
}

// TestEdgeBounds: targets that repeat what came before do not make a small value large without end.
func TestEdgeBounds(t *testing.T) {
	for _, tc := range []struct {
		name          string
		bytes, repeat int // of the first target, and how often it is repeated
		ok            bool
	}{
		{"a long target", maxEdgeRow, 0, true},
		{"too long a target", maxEdgeRow + 1, 0, false},
		{"as many bytes as a value may unpack to", maxEdgeRow, maxUnpacked/maxEdgeRow - 1, true},
		{"more bytes", maxEdgeRow, maxUnpacked / maxEdgeRow, false},
	} {
		s := StoredEdges{Targets: slices.Repeat([]string{strings.Repeat("x", tc.bytes)}, 1+tc.repeat)}
		var last error
		for _, err := range EdgeTargets([]txn.Version{{Name: Edges.Name, Value: txn.Value{Data: s.Encode()}}}) {
			last = err
		}
		if errors.Is(last, store.ErrCorrupt) == tc.ok {
			t.Errorf("%s: %v", tc.name, last)
		}
	}
}

func someLinks(random *rand.Rand) []TargetLinks {
	var links []page.Link
	for range random.IntN(20) {
		links = append(links, page.Link{
			Target: page.URL(fmt.Sprintf("https://a.example/%d", random.IntN(10))),
			Anchor: strings.Repeat("x", random.IntN(30)),
		})
	}
	slices.SortFunc(links, func(a, b page.Link) int { return strings.Compare(string(a.Target)+a.Anchor, string(b.Target)+b.Anchor) })
	return GroupLinks(slices.Compact(links))
}

func TestPartNumber(t *testing.T) {
	for i := range 3 {
		if got, ok := PartNumber(Links, Part(Links, i).Name); !ok || got != i {
			t.Errorf("part %d: %d, %v", i, got, ok)
		}
	}
	for _, name := range []string{"", "link", "links/", "links/000000", "links/1", "links/-00001", "links/0000x1", "linksx", "inverted/000001"} {
		if i, ok := PartNumber(Links, name); ok {
			t.Errorf("%q is part %d", name, i)
		}
	}
	cols := []txn.Version{{Name: "inverted"}, {Name: "links", Value: txn.Value{Data: []byte{1}}}, {Name: "links/000001", Value: txn.Value{Data: []byte{2}}}, {Name: "links/000003"}, {Name: "text"}}
	if parts := PartsIn(Links, cols); !reflect.DeepEqual(parts, [][]byte{{1}, {2}}) {
		t.Errorf("parts %v", parts)
	}
}
