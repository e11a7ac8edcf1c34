package schema

import (
	"encoding/binary"
	"time"
)

// MaxHistory is how many visits an entry remembers: enough to show how often a page
// changes, in about a hundred bytes.
const MaxHistory = 10

// VisitEffect is what a visit meant for the index.
type VisitEffect uint8

// The effects. The numbers are stored.
const (
	VisitChanged     VisitEffect = 0 // something new was loaded
	VisitUnchanged   VisitEffect = 1 // fetched completely, but the same as before
	VisitNotModified VisitEffect = 2 // the server said that it is the same (304)
	VisitFailed      VisitEffect = 3 // no usable response
	VisitSetAside    VisitEffect = 4 // not loaded: the first 404, a soft 404
	VisitWithdrawn   VisitEffect = 5 // not requested: robots.txt now disallows it
)

// String names the effect.
func (v VisitEffect) String() string {
	if int(v) < 6 {
		return [...]string{"changed", "unchanged", "not modified", "failed", "set aside", "withdrawn"}[v]
	}
	return "invalid"
}

// PastVisit is what an entry remembers about a visit.
type PastVisit struct {
	Time   time.Time // when the request began, to the millisecond
	Status int       // 0: no response
	Effect VisitEffect
	Bytes  int64         // received: header, and content with its codings
	Took   time.Duration // the whole exchange, to the millisecond
}

// Remember appends a visit and forgets the oldest beyond MaxHistory.
func (e *FrontierEntry) Remember(v PastVisit) {
	kept := e.History[max(0, len(e.History)+1-MaxHistory):]
	e.History = append(append(make([]PastVisit, 0, len(kept)+1), kept...), v)
}

func encodeHistory(b enc, list []PastVisit) enc {
	b = b.uint(uint64(len(list)))
	last := int64(0)
	for _, v := range list {
		at := int64(unixMilli(v.Time))
		b = binary.AppendVarint(b, at-last) // negative if the clock was set back
		b = b.uint(uint64(v.Status)).byte(byte(v.Effect)).uint(uint64(v.Bytes)).uint(uint64(v.Took / time.Millisecond))
		last = at
	}
	return b
}

func decodeHistory(d dec) []PastVisit {
	n := d.Uint()
	if n > MaxHistory {
		d.Fail()
		return nil
	}
	list := make([]PastVisit, 0, n)
	last := int64(0)
	for range n {
		last = int64(storableMilli(uint64(max(last+d.Int(), 0))))
		list = append(list, PastVisit{
			Time: fromUnixMilli(uint64(last)), Status: int(d.Uint()), Effect: VisitEffect(d.Byte()),
			Bytes: int64(d.Uint()), Took: d.duration(time.Millisecond),
		})
	}
	if len(list) == 0 {
		return nil
	}
	return list
}
