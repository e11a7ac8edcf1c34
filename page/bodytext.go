package page

// BodyText is the body of a fetch as valid UTF-8, in the character set that Interpret
// reads it in, and whether it is HTML. ok is false for what is neither HTML nor plain
// text.
func BodyText(f *Fetch) (text string, html, ok bool) {
	k := bodyKind(f)
	if k == kindOther {
		return "", false, false
	}
	return string(decode(f.Body, f.Header.Get("Content-Type"), k)), k == kindHTML, true
}
