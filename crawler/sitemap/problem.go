package sitemap

import (
	"errors"
	"fmt"
)

// MaxProblems is the number of problems kept for one file; the last of them then says
// how many more there were.
const MaxProblems = 100

// Problem is something wrong in a file, and where. Lines and columns begin at 1 and
// refer to the decompressed file in UTF-8; columns are bytes.
type Problem struct {
	Line, Column int
	Err          error
}

// Error returns the place and what is wrong there.
func (p Problem) Error() string {
	return fmt.Sprintf("line %d, column %d: %v", p.Line, p.Column, p.Err)
}

// Unwrap returns what is wrong.
func (p Problem) Unwrap() error { return p.Err }

var (
	errEmpty    = errors.New("the file is empty")
	errTooMany  = fmt.Errorf("more than %d entries; the rest is left out", MaxEntries)
	errTooLarge = fmt.Errorf("more than %d bytes when decompressed; the rest is left out", MaxSize)
	errToken    = fmt.Errorf("a tag or text of more than %d bytes; the rest is left out", maxToken)
	errTooDeep  = fmt.Errorf("indexes are nested more than %d deep; this one is not followed", MaxDepth)
	errNoURL    = errors.New("an entry without a URL")
	errCut      = errors.New("the file ends within a URL, which is left out")
	errStray    = errors.New("an end tag without a start tag, or out of order")
)

// problems keeps the first problems and counts the rest.
type problems struct {
	list []Problem
	more int
	last Problem
}

func (p *problems) add(line, column int, err error) {
	problem := Problem{Line: line, Column: column, Err: err}
	if len(p.list) < MaxProblems-2 {
		p.list = append(p.list, problem)
		return
	}
	p.more++
	p.last = problem
}

// all returns the problems kept, then how many were not, then the last one, which says
// why reading stopped.
func (p *problems) all() []Problem {
	if p.more == 0 {
		return p.list
	}
	if p.more > 1 {
		p.list = append(p.list, Problem{p.last.Line, p.last.Column, fmt.Errorf("%d more problems up to here", p.more-1)})
	}
	return append(p.list, p.last)
}
