package page

import "bytes"

// xmlEncoding returns the label of the encoding that the XML declaration of a body names, or ""
// (HTML standard, "get an XML encoding").
func xmlEncoding(body []byte) string {
	switch {
	case bytes.HasPrefix(body, []byte("<\x00?\x00x\x00")):
		return "utf-16le"
	case bytes.HasPrefix(body, []byte("\x00<\x00?\x00x")):
		return "utf-16be"
	}
	rest, ok := bytes.CutPrefix(body, []byte("<?xml"))
	declaration, _, closed := bytes.Cut(rest, []byte(">"))
	if !ok || !closed {
		return ""
	}
	_, value, _ := bytes.Cut(declaration, []byte("encoding"))
	value, ok = bytes.CutPrefix(skipControls(value), []byte("="))
	if value = skipControls(value); !ok || len(value) == 0 || value[0] != '"' && value[0] != '\'' {
		return ""
	}
	label, _, closed := bytes.Cut(value[1:], value[:1])
	if !closed || len(skipControls(label)) < len(label) {
		return ""
	}
	return readableLabel(canonicalLabel(string(label)))
}

// skipControls skips what the standard skips in an XML declaration: spaces and control characters.
func skipControls(s []byte) []byte {
	for len(s) > 0 && s[0] <= ' ' {
		s = s[1:]
	}
	return s
}
