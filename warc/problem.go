package warc

import (
	"fmt"
	"strings"
)

// Problem describes something wrong at a place in a file, and how the Reader handled it.
type Problem struct {
	// File is the name the Reader was opened with.
	File string
	// Offset is the offset in the file as stored, in bytes: that of the compressed member
	// that holds the place or, if the data is not compressed, of the place itself.
	Offset int64
	// Inner is the offset in the uncompressed stream, from the beginning of the file; -1 if
	// it adds nothing to Offset.
	Inner int64
	// Record identifies the affected record: its type and target URI as far as they are
	// known, or its id. Empty if no record is affected.
	Record string
	// Reason says what is wrong and how the Reader handled it.
	Reason string
}

// String formats the problem on one line: file:offset: record: reason.
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

// problems collects a bounded number of problems of one file.
type problems struct {
	file  string
	list  []Problem
	total int
	on    func(Problem)
}

func (ps *problems) add(p Problem) {
	p.File = ps.file
	ps.total++
	if len(ps.list) < MaxProblems {
		ps.list = append(ps.list, p)
	}
	if ps.on != nil {
		ps.on(p)
	}
}
