package warc

import (
	"bytes"
	"slices"
	"strings"
)

// Field is a named field of a record header, spelled as in the file. Folded lines are
// joined by a space.
type Field struct{ Name, Value string }

// Fields is a header in the order of the file. Names may repeat.
type Fields []Field

// Get returns the value of the first field with a name, ignoring case, or "" if there is
// none.
func (fs Fields) Get(name string) string {
	for _, f := range fs {
		if strings.EqualFold(f.Name, name) {
			return f.Value
		}
	}
	return ""
}

func (fs Fields) has(name string) bool {
	return slices.ContainsFunc(fs, func(f Field) bool { return strings.EqualFold(f.Name, name) })
}

// parseFields appends the fields of text, the lines between the first line of a
// header and the empty one, to fs. Lines may end in LF alone and may be folded
// (RFC 9112 section 5.2, WARC 1.1 section 4). It trims white space around names and values,
// and skips lines without a colon.
func parseFields(fs Fields, text string) Fields {
	for text != "" {
		var line string
		line, text, _ = strings.Cut(text, "\n")
		line = strings.TrimSuffix(line, "\r")
		name, value, ok := strings.Cut(line, ":")
		name = strings.TrimRight(name, " \t")
		if isFolded(line) || !ok || name == "" {
			continue
		}
		value, text = unfold(strings.Trim(value, " \t"), text)
		fs = append(fs, Field{name, value})
	}
	return fs
}

// unfold appends the folded lines at the beginning of text to a value, and returns the rest of text. It copies
// each line once: a header of two mebibytes may consist of them.
func unfold(value, text string) (unfolded, rest string) {
	if !isFolded(text) {
		return value, text
	}
	b := []byte(value)
	for isFolded(text) {
		var line string
		line, text, _ = strings.Cut(text, "\n")
		b = append(b, ' ')
		b = append(b, strings.Trim(strings.TrimSuffix(line, "\r"), " \t")...)
	}
	return string(bytes.Trim(b, " \t")), text
}

func isFolded(line string) bool { return line != "" && (line[0] == ' ' || line[0] == '\t') }

// headerEnd returns the length of the header at the beginning of b, including its empty
// line, or -1 if there is no empty line at or after from. from may be any position up to
// which b was searched before.
func headerEnd(b []byte, from int) int {
	for i := max(from-3, 0); i < len(b); i++ {
		if b[i] != '\n' {
			continue
		}
		switch rest := b[i+1:]; {
		case len(rest) > 0 && rest[0] == '\n':
			return i + 2
		case len(rest) > 1 && rest[0] == '\r' && rest[1] == '\n':
			return i + 3
		}
	}
	return -1
}
