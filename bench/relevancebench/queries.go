package relevancebench

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"regexp"
	"strconv"
	"strings"

	"github.com/webindexer/indexer/page"
)

// judged is a query with the pages that answer it.
//
// A file of them is text that can be checked by eye. A query stands alone on a line, as a
// person would type it. The lines below it are indented:
//
//	lang TAG        the language of the query, for example fr; without it, English
//	GRADE REGEXP    an answer: 3 for the page that is asked for, 2 for a page that answers
//	                the query as well, 1 for a page that helps
//	or GRADE REGEXP the same answer on other pages: older versions, or translations
//
// A regular expression is compared with the canonical URL, and is not anchored. Lines that
// begin with # are comments, and empty lines mean nothing.
type judged struct {
	query    string
	language string
	answers  []answer
}

// answer is one answer to a query. Its pages say the same, so only the first of them that a
// result shows counts: a page of results is no better for repeating itself.
type answer []gradedPages

// gradedPages are pages of one grade.
type gradedPages struct {
	grade int
	url   *regexp.Regexp
}

// bestGrade is the grade of the page that a query asks for.
const bestGrade = 3

func readQueries(path string) (_ []judged, err error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	list, err := parseQueries(f)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return list, nil
}

func parseQueries(r io.Reader) (list []judged, err error) {
	lines := bufio.NewScanner(r)
	for n := 1; lines.Scan(); n++ {
		line := lines.Text()
		text := strings.TrimSpace(line)
		switch {
		case text == "" || strings.HasPrefix(text, "#"):
			continue
		case text == strings.TrimRight(line, " \t\r"):
			list = append(list, judged{query: text, language: "en"})
			continue
		case len(list) == 0:
			return nil, fmt.Errorf("line %d: an indented line belongs to a query, and there is none above it", n)
		}
		if err := list[len(list)-1].add(text); err != nil {
			return nil, fmt.Errorf("line %d: %q: %w", n, text, err)
		}
	}
	if err := lines.Err(); err != nil {
		return nil, err
	}
	if len(list) == 0 {
		return nil, errors.New("no queries")
	}
	for _, q := range list {
		if q.best() < bestGrade {
			return nil, fmt.Errorf("%q: no answer has grade %d", q.query, bestGrade)
		}
	}
	return list, nil
}

// add reads an indented line.
func (q *judged) add(line string) error {
	first, rest, _ := strings.Cut(line, " ")
	if first == "lang" {
		q.language = rest
		return nil
	}
	more := first == "or"
	if more {
		first, rest, _ = strings.Cut(strings.TrimSpace(rest), " ")
	}
	grade, err := strconv.Atoi(first)
	if err != nil || grade < 1 || grade > bestGrade {
		return fmt.Errorf("want lang, or a grade from 1 to %d and a regular expression", bestGrade)
	}
	re, err := regexp.Compile(strings.TrimSpace(rest))
	if err != nil || rest == "" {
		return errors.Join(errors.New("no regular expression"), err)
	}
	pages := gradedPages{grade, re}
	if !more {
		q.answers = append(q.answers, answer{pages})
		return nil
	}
	if len(q.answers) == 0 {
		return errors.New(`"or" needs an answer above it`)
	}
	last := &q.answers[len(q.answers)-1]
	*last = append(*last, pages)
	return nil
}

// best is the best grade of a query.
func (q *judged) best() (best int) {
	for _, a := range q.answers {
		best = max(best, a.best())
	}
	return best
}

func (a answer) best() (best int) {
	for _, p := range a {
		best = max(best, p.grade)
	}
	return best
}

// grade is the grade of a page as this answer, 0 for none.
func (a answer) grade(u page.URL) (grade int) {
	for _, p := range a {
		if p.grade > grade && p.url.MatchString(string(u)) {
			grade = p.grade
		}
	}
	return grade
}

// grades are the grades of the hits of a result. A hit whose answer came before gets none.
func (q *judged) grades(hits []page.URL) []int {
	given := make([]bool, len(q.answers))
	out := make([]int, len(hits))
	for i, u := range hits {
		best := -1
		for j, a := range q.answers {
			if g := a.grade(u); g > out[i] && !given[j] {
				out[i], best = g, j
			}
		}
		if best >= 0 {
			given[best] = true
		}
	}
	return out
}
