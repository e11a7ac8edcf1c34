package schema

import (
	"fmt"

	"github.com/webindexer/indexer/internal/wire"
)

// StoredJournal says which parts of a journal have not been applied yet: parts Next to
// Parts-1.
type StoredJournal struct{ Next, Parts int }

// Encode encodes the journal for RankJournal.
func (j StoredJournal) Encode() []byte { return enc(nil).uint(uint64(j.Next)).uint(uint64(j.Parts)) }

// DecodeJournal decodes a journal; nil bytes mean a journal without parts.
func DecodeJournal(b []byte) (StoredJournal, error) {
	if b == nil {
		return StoredJournal{}, nil
	}
	d := newDec(b)
	j := StoredJournal{Next: int(d.Uint()), Parts: int(d.Uint())}
	if j.Next < 0 || j.Next >= j.Parts || j.Parts > 1<<20 {
		d.Fail()
	}
	return j, d.done("journal of ranks")
}

// RankChange is an entry of the journal: the rank state that a URL will have.
type RankChange struct {
	Row   string // of the URL
	State StoredRankState
	Moved bool // its cluster must be woken
	Again bool // it has a residual to pass on
}

// The flags of a change, in the order in which EncodeRankPart writes them.
const (
	changeMoved = 1 << iota
	changeAgain
	changeFlags
)

// EncodeRankPart encodes a part of the journal for RankPart. The rows must ascend.
func EncodeRankPart(list []RankChange) []byte {
	e := enc(make([]byte, 0, 48*len(list))).uint(uint64(len(list)))
	last := ""
	for i := range list {
		p := &list[i]
		e = e.afterPrefix(last, p.Row).byte(flags(p.Moved, p.Again)).rankState(&p.State)
		last = p.Row
	}
	return e
}

// DecodeRankPart decodes a part of the journal.
func DecodeRankPart(b []byte) ([]RankChange, error) {
	d := newDec(b)
	n := d.Uint()
	if n > uint64(len(d.Rest()))/(5+3*8) { // each takes at least this many bytes
		d.Fail()
		n = 0
	}
	list := make([]RankChange, 0, n)
	last := []byte(nil)
	for range n {
		same := d.Uint()
		if same > uint64(len(last)) {
			d.Fail()
			break
		}
		last = append(last[:same], d.Text()...)
		flags := d.Byte()
		p := RankChange{Row: string(last), State: d.rankState(), Moved: flags&changeMoved != 0, Again: flags&changeAgain != 0}
		if flags >= changeFlags || len(last) > maxEdgeRow || len(list) > 0 && p.Row <= list[len(list)-1].Row {
			d.Fail()
		}
		if d.Failed() {
			break
		}
		list = append(list, p)
	}
	if err := d.done("part of the journal of ranks"); err != nil {
		return nil, err
	}
	return list, nil
}

// String shows the change, for messages of tests.
func (p RankChange) String() string {
	return fmt.Sprintf("%q: %+v, moved %t, again %t", p.Row, p.State, p.Moved, p.Again)
}

// afterPrefix appends a string: the length of the prefix that it shares with the string before it,
// and its rest.
func (e enc) afterPrefix(last, s string) enc {
	same := wire.CommonPrefix(last, s)
	return e.uint(uint64(same)).string(s[same:])
}
