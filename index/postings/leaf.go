package postings

import "bytes"

// leaf is a leaf page:
//
//	2 bytes  offset of the first row id that belongs to a doclist begun on an earlier page; 0 if none
//	2 bytes  size: where the offsets of terms begin
//	…        the rest of a doclist begun earlier; then terms, each with its doclist.
//	         The first term is complete: length, bytes. Further terms are: number of bytes
//	         shared with the term before, length of the rest, rest
//	size     for each term its offset; from the second on, minus the offset before
type leaf struct {
	b    []byte
	size int
}

const leafHeader = 4

func parseLeaf(b []byte) (leaf, error) {
	if len(b) < leafHeader {
		return leaf{}, corrupt("page of %d bytes", len(b))
	}
	l := leaf{b, uint16At(b, 2)}
	if l.size < leafHeader || l.size > len(b) {
		return leaf{}, corrupt("page of %d bytes says it has %d", len(b), l.size)
	}
	return l, nil
}

// rest returns the part on this page of a doclist begun on an earlier page, the offset in
// it of the first row id that is not a difference (-1 if there is none), and whether the
// doclist ends here.
func (l leaf) rest() (doclist []byte, row int, ends bool, err error) {
	end := l.size
	if len(l.b) > l.size {
		v, n := Varint(l.b[l.size:])
		if n == 0 || v < leafHeader || v > uint64(l.size) {
			return nil, 0, false, corrupt("offset of the first term of a page")
		}
		end, ends = int(v), true
	}
	row = uint16At(l.b, 0)
	if row != 0 && (row < leafHeader || row >= l.size) {
		return nil, 0, false, corrupt("offset of the first row of a page")
	}
	if row == 0 || row >= end {
		row = leafHeader - 1
	}
	return l.b[leafHeader:end], row - leafHeader, ends, nil
}

// terms iterates over the terms of a page, in ascending order.
type terms struct {
	leaf
	index int // next offset in the list of offsets
	next  int // offset of the next term; 0 if there is none

	term    []byte // valid until the next step
	doclist []byte // its part on this page
	open    bool   // it may continue on the next page
}

func (l leaf) terms() (*terms, error) {
	t := &terms{leaf: l, index: l.size}
	return t, t.offset()
}

// offset reads the next entry of the list of offsets.
func (t *terms) offset() error {
	if t.index == len(t.b) {
		t.next = 0
		return nil
	}
	v, n := Varint(t.b[t.index:])
	if n == 0 || v == 0 || v > uint64(t.size) {
		return corrupt("offset of a term")
	}
	t.index += n
	t.next += int(v)
	if t.next < leafHeader || t.next >= t.size {
		return corrupt("offset %d of a term", t.next)
	}
	return nil
}

// step moves to the next term and reports whether there is one.
func (t *terms) step() (bool, error) {
	if t.next == 0 {
		return false, nil
	}
	first := t.term == nil
	begin := t.next
	if err := t.offset(); err != nil {
		return false, err
	}
	end := t.size
	if t.next != 0 {
		end = t.next
	}
	if end < begin {
		return false, corrupt("offsets of terms overlap")
	}
	r := reader{b: t.b[begin:end]}
	keep := uint64(0)
	if !first {
		keep = r.varint()
	}
	fresh := r.varint()
	if r.bad || keep > uint64(len(t.term)) || fresh == 0 || fresh > uint64(len(r.b)) {
		return false, corrupt("term")
	}
	t.term = append(t.term[:keep], r.b[:fresh]...)
	t.doclist, t.open = r.b[fresh:], t.next == 0
	return true, nil
}

// find moves to the first term that is not below key.
func (t *terms) find(key []byte) (found bool, err error) {
	for {
		ok, err := t.step()
		if !ok || err != nil || bytes.Compare(t.term, key) >= 0 {
			return ok, err
		}
	}
}
