package sites

import (
	"errors"
	"fmt"
	"net/http"
	"net/textproto"
	"strconv"
	"strings"
	"time"

	"github.com/webindexer/indexer/page"
)

// Parse parses the text of a site; name is the name of the file, for errors and
// Site.Name. It returns the first mistake as an *Error with its line.
func Parse(name string, data []byte) (*Site, error) {
	s := &Site{Name: baseName(name)}
	lines := strings.SplitAfter(strings.ReplaceAll(string(data), "\r\n", "\n"), "\n")
	var comment strings.Builder
	i := 0
	for ; i < len(lines) && !isMarker(lines[i]); i++ {
		comment.WriteString(lines[i])
	}
	s.Comment = strings.TrimSpace(comment.String())
	for i < len(lines) {
		start := i
		for i++; i < len(lines) && !isMarker(lines[i]); i++ {
		}
		e, line, err := s.parseEntry(lines[start:i])
		if err != nil {
			return nil, &Error{File: name, Line: start + line + 1, Err: err}
		}
		e.line = start + 1
		s.entries = append(s.entries, *e)
	}
	if len(s.entries) == 0 {
		return nil, &Error{File: name, Line: 1, Err: errors.New(`no fetch: want a line "-- TIME URL --"`)}
	}
	return s, nil
}

func isMarker(line string) bool {
	line = strings.TrimRight(line, " \t\n")
	return strings.HasPrefix(line, "-- ") && strings.HasSuffix(line, " --") && len(line) > len("-- --")
}

// parseEntry parses one fetch; line counts from its marker, which is line 0.
func (s *Site) parseEntry(lines []string) (e *entry, line int, err error) {
	e = new(entry)
	if err := e.parseMarker(lines[0]); err != nil {
		return nil, 0, err
	}
	fields, how, n, err := parseFields(lines[1:])
	if err != nil {
		return nil, 1 + n, err
	}
	body := strings.TrimRight(strings.Join(lines[1+n:], ""), "\n")
	if body != "" {
		body += "\n"
	}
	if err := s.build(e, fields, how, body); err != nil {
		return nil, 0, err
	}
	return e, 0, nil
}

// parseMarker parses "-- TIME URL [STATUS [LOCATION]] --".
func (e *entry) parseMarker(line string) error {
	words := strings.Fields(line)
	words = words[1 : len(words)-1]
	if len(words) < 2 || len(words) > 4 {
		return fmt.Errorf(`want "-- TIME URL [STATUS [LOCATION]] --", have %q`, strings.TrimSpace(line))
	}
	f := &e.fetch
	var err error
	if f.Time, err = parseTime(words[0]); err != nil {
		return err
	}
	if f.URL, err = page.ParseURL(words[1]); err != nil {
		return err
	}
	f.Status, f.Header = http.StatusOK, http.Header{}
	if len(words) == 2 {
		return nil
	}
	switch word := words[2]; word {
	case "revisit":
		f.Revisit, f.Status = true, http.StatusNotModified
	case "failed":
		f.Err, f.Status = "no response", 0
	default:
		f.Status, err = strconv.Atoi(word)
		if err != nil || f.Status < 100 || f.Status > 999 {
			return fmt.Errorf("want a status of three digits, revisit or failed, have %q", word)
		}
		f.Revisit = f.Status == http.StatusNotModified
	}
	if len(words) == 4 {
		f.Header.Set("Location", words[3])
	}
	return nil
}

func parseTime(s string) (time.Time, error) {
	for _, layout := range []string{time.RFC3339, time.DateOnly} {
		if t, err := time.Parse(layout, s); err == nil {
			return t.UTC(), nil
		}
	}
	return time.Time{}, fmt.Errorf("want a time like 2006-01-02 or 2006-01-02T15:04:05Z, have %q", s)
}

// parseFields parses header fields and @ lines at the beginning of lines. n is the number
// of lines before the body or, with an error, before the mistake.
func parseFields(lines []string) (fields http.Header, how map[string]string, n int, err error) {
	fields, how = http.Header{}, map[string]string{}
	for i, line := range lines {
		line = strings.TrimSpace(line)
		switch {
		case line == "":
			return fields, how, i + 1, nil
		case line[0] == '<':
			return fields, how, i, nil
		case line[0] == '#':
			continue
		}
		name, value, ok := strings.Cut(line, ":")
		if !ok || strings.ContainsAny(name, " \t<>") {
			return nil, nil, i, fmt.Errorf(`want a header field or an empty line before the body, have %q`, line)
		}
		value = strings.TrimSpace(value)
		if name, isHow := strings.CutPrefix(name, "@"); isHow {
			if !directives[name] {
				return nil, nil, i, fmt.Errorf("unknown directive @%s", name)
			}
			how[name] = value
			continue
		}
		key := textproto.CanonicalMIMEHeaderKey(name)
		fields[key] = append(fields[key], value)
	}
	return fields, how, len(lines), nil
}
