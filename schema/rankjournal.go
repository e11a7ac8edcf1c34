package schema

import "fmt"

// StoredJournal says which parts of a journal are still to be applied: parts Next to
// Parts-1.
type StoredJournal struct{ Next, Parts int }

// Encode encodes the journal for RankJournal.
func (j StoredJournal) Encode() []byte { return enc(nil).uint(uint64(j.Next)).uint(uint64(j.Parts)) }

// DecodeJournal decodes a journal; nil bytes are a journal without parts.
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

// Posting is a line of the journal: the rank state that a URL is to have.
type Posting struct {
	Row   string // of the URL
	State StoredRankState
	Tell  bool // wake its cluster
	More  bool // it has a residual to pass on
}

const (
	postingTells = 1 << iota
	postingHasMore
	postingFlags
)

// EncodePostings encodes a part of the journal for RankPart. The rows must ascend.
func EncodePostings(list []Posting) []byte {
	e := enc(make([]byte, 0, 48*len(list))).uint(uint64(len(list)))
	last := ""
	for i := range list {
		p := &list[i]
		same := commonPrefix(last, p.Row)
		flags := byte(0)
		if p.Tell {
			flags |= postingTells
		}
		if p.More {
			flags |= postingHasMore
		}
		e = e.uint(uint64(same)).string(p.Row[same:]).byte(flags).rankState(&p.State)
		last = p.Row
	}
	return e
}

// DecodePostings decodes a part of the journal.
func DecodePostings(b []byte) ([]Posting, error) {
	d := newDec(b)
	n := d.Uint()
	if n > uint64(len(d.Rest()))/(5+3*8) { // each takes at least that
		d.Fail()
		n = 0
	}
	list := make([]Posting, 0, n)
	last := []byte(nil)
	for range n {
		same := d.Uint()
		if same > uint64(len(last)) {
			d.Fail()
			break
		}
		last = append(last[:same], d.Text()...)
		flags := d.Byte()
		p := Posting{Row: string(last), State: d.rankState(), Tell: flags&postingTells != 0, More: flags&postingHasMore != 0}
		if flags >= postingFlags || len(last) > maxEdgeRow || len(list) > 0 && p.Row <= list[len(list)-1].Row {
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

func (p Posting) String() string {
	return fmt.Sprintf("%q: %+v, tell %t, more %t", p.Row, p.State, p.Tell, p.More)
}

func commonPrefix(a, b string) int {
	n := 0
	for n < len(a) && n < len(b) && a[n] == b[n] {
		n++
	}
	return n
}
