package robots

import (
	"iter"
	"strings"
)

// blanks are trimmed around field names and values. The RFC names space and tab.
const blanks = " \t\v\f"

// lines yields the lines of a file with their numbers from 1 on. CR, LF and CRLF
// end a line (RFC 9309 section 2.2), also mixed in one file.
func lines(text string) iter.Seq2[int, string] {
	return func(yield func(int, string) bool) {
		for n := 1; text != ""; n++ {
			line, rest := text, ""
			if end := strings.IndexAny(text, "\r\n"); end >= 0 {
				line, rest = text[:end], text[end+1:]
				if text[end] == '\r' && strings.HasPrefix(rest, "\n") {
					rest = rest[1:]
				}
			}
			if !yield(n, line) {
				return
			}
			text = rest
		}
	}
}

// splitRecord cuts a line without comment into field name and value. Where there
// is no colon, white space may stand for it if it leaves exactly two words.
func splitRecord(line string) (name, value string, ok bool) {
	name, value, ok = strings.Cut(line, ":")
	if !ok {
		words := strings.FieldsFunc(line, isBlank)
		if len(words) != 2 {
			return "", "", false
		}
		return words[0], words[1], true
	}
	name = strings.Trim(name, blanks)
	return name, strings.Trim(value, blanks), name != ""
}

func isBlank(r rune) bool { return strings.ContainsRune(blanks, r) }

// withoutComment drops what follows a number sign, and blanks around the rest.
func withoutComment(line string) string {
	line, _, _ = strings.Cut(line, "#")
	return strings.Trim(line, blanks)
}
