package page

import (
	"bytes"
	"strings"
	"unicode/utf8"

	"golang.org/x/net/html"
	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/htmlindex"
	"golang.org/x/text/encoding/japanese"
	"golang.org/x/text/encoding/simplifiedchinese"
	"golang.org/x/text/encoding/traditionalchinese"
	"golang.org/x/text/encoding/unicode"
)

// The character set of a body is determined by the first of these that is present:
// its byte order mark, the Content-Type field, a <meta> element or else an XML declaration,
// detection (semantics.md section 3; labels as in the Encoding standard). Two things differ from
// x/net's charset package: a <meta> counts anywhere, not just in the first 1024 bytes,
// and detection of UTF-8 reads the whole body, because the first KB of many pages is
// all ASCII.

var byteOrderMarks = []struct {
	mark  string
	label string
}{
	{"\xef\xbb\xbf", "utf-8"},
	{"\xfe\xff", "utf-16be"},
	{"\xff\xfe", "utf-16le"},
}

// decode returns the body as valid UTF-8 without a byte order mark, without copying it if
// it is that already. Bytes that cannot be decoded become U+FFFD.
func decode(body []byte, contentType string, k kind) []byte {
	label, body := charsetOf(body, contentType, k)
	if label == "utf-8" && utf8.Valid(body) {
		return body
	}
	e := encodingFor(label)
	if label == "gbk" {
		e = simplifiedchinese.GB18030 // the standard decodes GBK as its superset
	}
	if m, ok := e.(*charmap.Charmap); ok {
		return decodeCharmap(m, body)
	}
	if e == japanese.ShiftJIS || e == traditionalchinese.Big5 {
		return decodeDoubleByte(e, body)
	}
	text, err := e.NewDecoder().Bytes(body)
	if err != nil {
		// Decoders replace invalid bytes; this is for one that does not.
		return bytes.ToValidUTF8(body, []byte("\uFFFD"))
	}
	return text
}

// decodeCharmap decodes as the Encoding standard: bytes from 0x80 to 0x9F that a character set
// leaves open are control characters. For x/text they are not characters.
func decodeCharmap(m *charmap.Charmap, body []byte) []byte {
	text := make([]byte, 0, len(body)+len(body)/8)
	for _, b := range body {
		r := m.DecodeByte(b)
		if r == utf8.RuneError && 0x80 <= b && b <= 0x9f {
			r = rune(b)
		}
		text = utf8.AppendRune(text, r)
	}
	return text
}

// charsetOf returns the canonical label of the body's encoding, and the body
// without its byte order mark.
func charsetOf(body []byte, contentType string, k kind) (label string, rest []byte) {
	for _, b := range byteOrderMarks {
		if rest, ok := bytes.CutPrefix(body, []byte(b.mark)); ok {
			return b.label, rest
		}
	}
	if label = canonicalLabel(charsetParameter(contentType)); label != "" {
		return label, body
	}
	if k == kindHTML {
		if label = metaCharset(body); label != "" {
			return label, body
		}
		if label = xmlEncoding(body); label != "" {
			return label, body
		}
	}
	return detectCharset(body), body
}

// canonicalLabel returns "" for a label that is not in the Encoding standard.
func canonicalLabel(label string) string {
	e, err := htmlindex.Get(label)
	if label == "" || err != nil {
		return ""
	}
	name, err := htmlindex.Name(e)
	if err != nil {
		return ""
	}
	return name
}

func encodingFor(label string) encoding.Encoding {
	if label == "iso-8859-8-i" {
		return charmap.ISO8859_8 // they differ in the direction of writing only
	}
	if label != "utf-8" {
		if e, err := htmlindex.Get(label); err == nil {
			return e
		}
	}
	return unicode.UTF8
}

// charsetParameter finds charset=... in a Content-Type field or a <meta> content
// attribute ("algorithm for extracting a character encoding from a meta
// element"), which is more lenient than RFC 9110 and accepts what servers send.
func charsetParameter(s string) string {
	s = strings.ToLower(s)
	for {
		_, rest, found := strings.Cut(s, "charset")
		if !found {
			return ""
		}
		s = rest
		value, ok := strings.CutPrefix(strings.TrimLeft(s, htmlSpace), "=")
		if !ok {
			continue
		}
		value = strings.TrimLeft(value, htmlSpace)
		if value == "" {
			return ""
		}
		if value[0] == '"' || value[0] == '\'' {
			quoted, _, closed := strings.Cut(value[1:], value[:1])
			if !closed {
				return ""
			}
			return quoted
		}
		if end := strings.IndexAny(value, ";"+htmlSpace); end >= 0 {
			value = value[:end]
		}
		return value
	}
}

// prescanLength is how far browsers search for a <meta> before they parse. Their
// prescan does not know that scripts and styles hold no elements.
const prescanLength = 1024

// metaCharset returns the encoding that the first <meta> with one declares ("prescan a
// byte stream to determine its encoding", then "change the encoding while parsing"), or
// "" if there is none.
func metaCharset(body []byte) string {
	if !mentionsCharset(body) {
		return ""
	}
	z := html.NewTokenizer(bytes.NewReader(trimTags(body)))
	for offset := 0; ; offset += len(z.Raw()) {
		switch z.Next() {
		case html.ErrorToken:
			return ""
		case html.StartTagToken, html.SelfClosingTagToken:
			if offset < prescanLength {
				z.NextIsNotRawText()
			}
			name, hasAttr := z.TagName()
			if string(name) != "meta" || !hasAttr {
				continue
			}
			if label := declaredCharset(z); label == "x-user-defined" {
				return "windows-1252" // as the standard has it, for pages that bring their own fonts
			} else if label != "" {
				return readableLabel(label)
			}
		}
	}
}

// readableLabel corrects the label that a body declares in ASCII: it cannot be UTF-16.
func readableLabel(label string) string {
	if strings.HasPrefix(label, "utf-16") {
		return "utf-8"
	}
	return label
}

// declaredCharset reads the attributes of the current <meta> of z. Of several with one name, the first counts.
func declaredCharset(z *html.Tokenizer) string {
	values := make(map[string]string, 3)
	for more := true; more; {
		var key, value []byte
		key, value, more = z.TagAttr()
		switch string(key) {
		case "charset", "content", "http-equiv": // a page may have millions of others
			if _, repeated := values[string(key)]; !repeated {
				values[string(key)] = string(value)
			}
		}
	}
	if direct, ok := values["charset"]; ok {
		return canonicalLabel(strings.ToLower(strings.Trim(direct, htmlSpace)))
	}
	if strings.EqualFold(values["http-equiv"], "content-type") {
		return canonicalLabel(charsetParameter(values["content"]))
	}
	return ""
}

// mentionsCharset saves most pages without a declaration from being tokenized twice.
func mentionsCharset(body []byte) bool {
	if bytes.Contains(body[:min(len(body), prescanLength)], []byte("charset")) {
		return true
	}
	for i := 0; ; {
		j := bytes.IndexAny(body[i:], "cC")
		if j < 0 || i+j+len("charset") > len(body) {
			return false
		}
		i += j
		if bytes.EqualFold(body[i:i+len("charset")], []byte("charset")) {
			return true
		}
		i++
	}
}

// detectCharset guesses the encoding of a body that declares none: ISO-2022-JP if an
// escape sequence switches to a Japanese character set, UTF-8 if the whole body is valid
// UTF-8, and otherwise windows-1252, which the HTML standard suggests for most locales.
func detectCharset(body []byte) string {
	if bytes.Contains(body, []byte("\x1b$B")) || bytes.Contains(body, []byte("\x1b$@")) {
		return "iso-2022-jp"
	}
	if utf8.Valid(body) {
		return "utf-8"
	}
	return "windows-1252"
}

// BodyText decodes the body of a fetch to valid UTF-8, using the character set that
// Interpret uses, and reports whether it is HTML. An office or PDF document becomes HTML. ok is
// false for a body that is neither HTML nor plain text.
func BodyText(f *Fetch) (text string, html, ok bool) {
	k := bodyKind(f)
	body, err := readBody(f, k)
	return string(body), k != kindText, err == nil
}
