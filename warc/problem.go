package warc

import (
	"fmt"
	"strings"
)

// Problem is a place in a file that is not as it should be, and what the Reader
// made of it.
type Problem struct {
	// File is the name the Reader was opened with.
	File string
	// Offset is where in the file, in bytes as stored: the beginning of the
	// compressed member that holds the place, or the place itself where nothing
	// is compressed.
	Offset int64
	// Inner is the offset in the uncompressed stream, from the beginning of the
	// file; -1 where that says no more than Offset.
	Inner int64
	// Record names the record concerned: its type and target URI as far as they
	// are known, or its id. Empty where no record is concerned.
	Record string
	// Reason says what is wrong and what was done about it.
	Reason string
}

// String is the problem on one line: file:offset: record: reason.
func (p Problem) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s:%d", p.File, p.Offset)
	if p.Inner >= 0 {
		fmt.Fprintf(&b, "(uncompressed %d)", p.Inner)
	}
	b.WriteString(": ")
	if p.Record != "" {
		b.WriteString(p.Record)
		b.WriteString(": ")
	}
	b.WriteString(p.Reason)
	return b.String()
}

// problems collects the problems of one file, a bounded number of them.
type problems struct {
	file  string
	max   int
	list  []Problem
	total int
	on    func(Problem)
}

func (ps *problems) add(p Problem) {
	p.File = ps.file
	ps.total++
	if len(ps.list) < ps.max {
		ps.list = append(ps.list, p)
	}
	if ps.on != nil {
		ps.on(p)
	}
}
