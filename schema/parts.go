package schema

import (
	"fmt"
	"iter"
	"slices"
	"strconv"
	"strings"

	"github.com/webindexer/indexer/page"
	"github.com/webindexer/indexer/store"
	"github.com/webindexer/indexer/txn"
)

// A list that can be long is stored in parts, each in its own column of the same row, so
// that no cell comes near the limit of the store, and a reader holds one part in memory at
// a time. Part 0 has the column's own name and says how many further parts there are. A
// list that fits into one part is a cell like any other.
//
// One transaction writes all parts, and every transaction that writes any part writes part
// 0: its timestamp is that of the list, and an observer that watches the column is woken by
// every change.
//
// The numbers of parts mean nothing but the order of their contents.

// PartSize bounds a part: the number of its entries, and their bytes before compression. A
// single entry may be larger.
type PartSize struct{ Entries, Bytes int }

// UsualPart is the default size of parts. The links of a page with a few thousand links
// fit into one part. docs/decisions/0018-lists-in-parts.md has the reasons.
var UsualPart = PartSize{Entries: 4096, Bytes: 1 << 20}

// Part returns the column of a part.
func Part(c txn.Column, i int) txn.Column {
	if i == 0 {
		return c
	}
	return txn.Column{Group: c.Group, Name: fmt.Sprintf("%s/%06d", c.Name, i)}
}

// PartNumber returns the number of the part of column c that the column name in the same
// group is, or false if it is not a part of c.
func PartNumber(c txn.Column, name string) (int, bool) {
	rest, ok := strings.CutPrefix(name, c.Name)
	switch {
	case !ok:
		return 0, false
	case rest == "":
		return 0, true
	}
	digits, ok := strings.CutPrefix(rest, "/")
	if !ok {
		return 0, false
	}
	i, err := strconv.Atoi(digits)
	if err != nil || i <= 0 || Part(c, i).Name != name {
		return 0, false
	}
	return i, true
}

// PartsIn returns the parts of a column in a scanned row, in order. They end where a part
// is missing; then decoding them fails.
func PartsIn(c txn.Column, cols []txn.Version) [][]byte {
	var parts [][]byte
	for _, col := range cols { // ascending by name, and so by number
		if i, ok := PartNumber(c, col.Name); ok && i == len(parts) {
			parts = append(parts, col.Data)
		}
	}
	return parts
}

// cut cuts a list into parts of the given size.
func cut[T any](list iter.Seq[T], most PartSize, size func(T) (entries, bytes int)) iter.Seq[[]T] {
	return func(yield func([]T) bool) {
		var part []T
		entries, bytes := 0, 0
		for v := range list {
			n, b := size(v)
			if len(part) > 0 && (entries+n > most.Entries || bytes+b > most.Bytes) {
				if !yield(part) {
					return
				}
				part, entries, bytes = nil, 0, 0
			}
			part, entries, bytes = append(part, v), entries+n, bytes+b
		}
		if len(part) > 0 {
			yield(part)
		}
	}
}

// further writes how many further parts there are, at the end of part 0. It writes nothing
// if there are none, so that a list of one part is stored as it was before lists had parts.
func (e enc) further(parts, i int) enc {
	if i == 0 && parts > 1 {
		return e.uint(uint64(parts - 1))
	}
	return e
}

// further reads how many further parts there are.
func (d dec) further() int {
	if d.Failed() || len(d.Rest()) == 0 {
		return 0
	}
	n := d.count()
	if n == 0 {
		d.Fail()
	}
	return n
}

// whole checks that a list has as many parts as the first one says.
func whole(parts [][]byte, further int, what string) error {
	if len(parts) != further+1 {
		return fmt.Errorf("schema: stored %s have %d parts, and %d according to the first: %w", what, len(parts), further+1, store.ErrCorrupt)
	}
	return nil
}

// EncodeLinkParts cuts links into parts for Links. A target with more anchors than fit into
// a part is repeated.
func EncodeLinkParts(groups []TargetLinks, most PartSize) [][]byte {
	list := slices.Collect(cut(linkEntries(groups, most), most, sizeOfLinks))
	parts := make([][]byte, len(list))
	for i, part := range list {
		parts[i] = packBuilt(func(e enc) enc { return e.links(part).further(len(list), i) })
	}
	return parts
}

func (e enc) links(groups []TargetLinks) enc {
	e = e.uint(uint64(len(groups)))
	for _, g := range groups {
		e = e.string(string(g.Target)).strings(g.Anchors)
	}
	return e
}

func sizeOfLinks(g TargetLinks) (entries, bytes int) {
	bytes = len(g.Target)
	for _, a := range g.Anchors {
		bytes += len(a) + 2
	}
	return len(g.Anchors), bytes
}

// linkEntries divides targets with more anchors than fit into a part.
func linkEntries(groups []TargetLinks, most PartSize) iter.Seq[TargetLinks] {
	return func(yield func(TargetLinks) bool) {
		for _, g := range groups {
			if n, b := sizeOfLinks(g); n <= most.Entries && b <= most.Bytes {
				if !yield(g) {
					return
				}
				continue
			}
			room := PartSize{most.Entries, most.Bytes - len(g.Target)}
			size := func(a string) (int, int) { return 1, len(a) + 2 }
			for anchors := range cut(slices.Values(g.Anchors), room, size) {
				if !yield(TargetLinks{g.Target, anchors}) {
					return
				}
			}
		}
	}
}

// DecodeLinkPart decodes one part of Links, Inverted or Inverting. For part 0, further is
// the number of further parts. nil bytes mean no links.
func DecodeLinkPart(b []byte) (groups []TargetLinks, further int, err error) {
	if b == nil {
		return nil, 0, nil
	}
	err = readUnpacked(b, "links", func(d dec) error {
		n := d.Uint()
		for i := uint64(0); i < n && !d.Failed(); i++ {
			groups = append(groups, TargetLinks{Target: page.URL(d.Text()), Anchors: d.strings()})
		}
		further = d.further()
		return d.done("links")
	})
	return groups, further, err
}

// DecodeLinkParts decodes all parts of a list of links.
func DecodeLinkParts(parts [][]byte) ([]TargetLinks, error) {
	var all []TargetLinks
	for i, b := range parts {
		groups, further, err := DecodeLinkPart(b)
		if err == nil && i == 0 {
			err = whole(parts, further, "links")
		}
		if err != nil {
			return nil, err
		}
		if n := len(all); n > 0 && len(groups) > 0 && all[n-1].Target == groups[0].Target {
			all[n-1].Anchors = append(all[n-1].Anchors, groups[0].Anchors...)
			groups = groups[1:]
		}
		all = append(all, groups...)
	}
	return all, nil
}

// AnchorsIn decodes the anchors of a scanned pair row.
func AnchorsIn(cols []txn.Version) ([]string, error) {
	var all []string
	for i, b := range PartsIn(Anchors, cols) {
		anchors, err := DecodeAnchors(b)
		if err != nil {
			return nil, err
		}
		if i == 0 {
			all = anchors
		} else {
			all = append(all, anchors...)
		}
	}
	return all, nil
}

// EdgesIn decodes the edges of a scanned row.
func EdgesIn(cols []txn.Version) (StoredEdges, error) { return decodeEdgeParts(PartsIn(Edges, cols)) }

// EdgeTargets yields the targets of the edges of a scanned row. A target is valid until the next one.
// An error is the last element.
func EdgeTargets(cols []txn.Version) iter.Seq2[[]byte, error] {
	return func(yield func([]byte, error) bool) {
		parts := PartsIn(Edges, cols)
		for i, b := range parts {
			d := newDec(b)
			d.Uint() // Links
			d.Uint() // State
			if !d.targets(func(target []byte) bool { return yield(target, nil) }) {
				return
			}
			further := d.further()
			err := d.done("edges")
			if err == nil && i == 0 {
				err = whole(parts, further, "edges")
			}
			if err != nil {
				yield(nil, err)
				return
			}
		}
	}
}

// EncodeParts cuts edges into parts for Edges. The timestamps are in part 0, which exists
// even without targets.
func (s StoredEdges) EncodeParts(most PartSize) [][]byte {
	list := slices.Collect(cut(slices.Values(s.Targets), most, func(t string) (int, int) { return 1, len(t) }))
	if len(list) == 0 {
		list = append(list, nil)
	}
	parts := make([][]byte, len(list))
	for i, targets := range list {
		part := StoredEdges{Targets: targets}
		if i == 0 {
			part.Links, part.State = s.Links, s.State
		}
		parts[i] = enc(nil).edges(part).further(len(list), i)
	}
	return parts
}

// decodeEdgeParts decodes all parts of edges; no parts mean no edges.
func decodeEdgeParts(parts [][]byte) (StoredEdges, error) {
	var all StoredEdges
	for i, b := range parts {
		part, further, err := DecodeEdgePart(b)
		if err == nil && i == 0 {
			err = whole(parts, further, "edges")
			all.Links, all.State = part.Links, part.State
		}
		if err != nil {
			return StoredEdges{}, err
		}
		all.Targets = append(all.Targets, part.Targets...)
	}
	return all, nil
}

// LinkPlace is a place in a list of links: before the entry with this index in this part,
// or at the end if there is no such part.
type LinkPlace struct{ Part, Index int }

// StoredInversion says how far an inversion has come.
type StoredInversion struct {
	// Links is the commit timestamp of the links that it writes, 0 for none.
	Links uint64
	// Old and Now are the places that it has reached in Inverted and in Inverting.
	Old, Now LinkPlace
}

// Encode encodes the inversion for Inversion.
func (s StoredInversion) Encode() []byte {
	return enc(nil).uint(s.Links).place(s.Old).place(s.Now)
}

// DecodeInversion decodes an inversion.
func DecodeInversion(b []byte) (StoredInversion, error) {
	d := newDec(b)
	s := StoredInversion{Links: d.Uint(), Old: d.place(), Now: d.place()}
	return s, d.done("inversion")
}

func (e enc) place(p LinkPlace) enc { return e.uint(uint64(p.Part)).uint(uint64(p.Index)) }

func (d dec) place() LinkPlace { return LinkPlace{Part: d.count(), Index: d.count()} }

// StoredDiscovery says how far the links of a page have been offered to the frontier.
type StoredDiscovery struct {
	Links uint64 // commit timestamp of the links
	Depth int    // depth of the page
	Part  int    // the next part to offer
}

// Encode encodes the progress for Discovery.
func (s StoredDiscovery) Encode() []byte {
	return enc(nil).uint(s.Links).uint(uint64(s.Depth)).uint(uint64(s.Part))
}

// DecodeDiscovery decodes the progress; nil bytes mean the beginning.
func DecodeDiscovery(b []byte) (StoredDiscovery, error) {
	if b == nil {
		return StoredDiscovery{}, nil
	}
	d := newDec(b)
	s := StoredDiscovery{Links: d.Uint(), Depth: d.count(), Part: d.count()}
	return s, d.done("discovery")
}
