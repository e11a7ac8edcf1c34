package page

import (
	"cmp"
	"strings"
)

// contentType returns the Content-Type of a response; "" if no media type is given. Of several,
// which are repeated fields or a list that a proxy has made of them, the last one with a media type
// counts, with a character set from those before it of the same type (Fetch standard, "extract a
// MIME type").
func (f *Fetch) contentType() string {
	all := strings.Join(f.Header.Values("Content-Type"), ",")
	if !strings.Contains(all, ",") {
		return all
	}
	mediaType, charset := "", ""
	for value := range strings.SplitSeq(all, ",") {
		e := essence(value)
		if !strings.Contains(e, "/") || e == "*/*" {
			continue
		}
		if e != mediaType {
			mediaType, charset = e, ""
		}
		charset = cmp.Or(charsetParameter(value), charset)
	}
	return mediaType + ";charset=" + charset
}

// essence returns a media type in lower case without its parameters.
func essence(contentType string) string {
	s, _, _ := strings.Cut(contentType, ";")
	return strings.ToLower(strings.TrimSpace(s))
}
