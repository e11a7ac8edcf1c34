package seeds

import (
	"net/netip"
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/webindexer/indexer/page"
)

// parseSeed parses one line, or says why it is not a seed. It looks first for mistakes
// that the URL standard would accept: a browser may guess, because its user sees the
// result.
func parseSeed(text string) (Seed, *LineError) {
	text = strings.TrimSpace(text)
	for _, check := range []func(string) *LineError{checkText, checkWords, checkForm} {
		if rejected := check(text); rejected != nil {
			return Seed{}, rejected
		}
	}
	if hasScheme(text) {
		return parseWithScheme(text)
	}
	return parseBare(text)
}

func reject(text, reason, instead string) *LineError {
	return &LineError{Text: text, Reason: reason, Instead: instead}
}

func checkText(text string) *LineError {
	switch {
	case text == "":
		return reject(text, "is empty", "a URL, as https://example.com/")
	case !utf8.ValidString(text):
		return reject(strings.ToValidUTF8(text, "?"), "is not UTF-8", "the file in UTF-8 (\"save as\" in an editor)")
	case strings.ContainsRune(text, 0):
		return reject(text, "has zero bytes in it: the file is in UTF-16, or no text", "the file in UTF-8 (\"save as\" in an editor)")
	}
	return nil
}

func checkWords(text string) *LineError {
	if i := strings.IndexFunc(text, unicode.IsSpace); i >= 0 {
		instead := "one URL a line, and %20 for a blank inside a URL"
		if s, rejected := parseSeed(text[:i]); rejected == nil {
			instead = given(s, text[:i]) + " alone, further URLs on lines of their own, and # before a comment"
		}
		return reject(text, "has white space in it", instead)
	}
	if strings.ContainsFunc(text, isInvisible) {
		return reject(text, "has an invisible character in it", withoutInvisible(text))
	}
	return nil
}

// isInvisible finds characters that are pasted with a text. It excludes the two
// joiners: they are part of words in Persian and Hindi.
func isInvisible(c rune) bool {
	return unicode.IsControl(c) || unicode.Is(unicode.Cf, c) && c != '\u200c' && c != '\u200d'
}

// given returns text if it is a bare host, else the URL in its canonical form.
func given(s Seed, text string) string {
	if s.Bare {
		return text
	}
	return string(s.URL)
}

func withoutInvisible(text string) string {
	return strings.Map(func(c rune) rune {
		if isInvisible(c) {
			return -1
		}
		return c
	}, text)
}

const (
	wrapping    = `"'<>(){},;` + "`"
	placeholder = "https://example.com/"
)

// checkForm rejects text that was written for another program, or that has no form of a
// URL.
func checkForm(text string) *LineError {
	if strings.ContainsRune(wrapping, rune(text[0])) {
		instead := ""
		if bare := strings.Trim(text, wrapping); bare != "" {
			if _, rejected := parseSeed(bare); rejected == nil {
				instead = bare
			}
		}
		return reject(text, "has a sign before the URL", instead)
	}
	if netip6(text) {
		return reject(text, "is an IPv6 address without brackets", "https://["+text+"]/")
	}
	switch text[0] {
	case '+', '-':
		return reject(text, "is a directive of another crawler", "the URL alone, and patterns with --include and --exclude")
	case '/', '\\':
		if strings.HasPrefix(text, "//") && len(text) > 2 && text[2] != '/' {
			return nil // a bare host, as pages write it
		}
		return reject(text, "is a path without a host", "the whole URL, as "+placeholder+"path")
	case '.', '?', '&', '=', ':', '@', '%':
		return reject(text, "does not begin with a host", "the whole URL, as "+placeholder)
	}
	return nil
}

var schemePattern = regexp.MustCompile(`^([A-Za-z][A-Za-z0-9+.-]*):(.*)$`)

// hasScheme distinguishes "mailto:x" from "example.com:8080": a port is digits up to
// the end of what could be the authority, and no scheme in use has a dot.
func hasScheme(text string) bool {
	m := schemePattern.FindStringSubmatch(text)
	if m == nil || strings.Contains(m[1], ".") && !strings.HasPrefix(m[2], "//") {
		return false
	}
	port, _, _ := strings.Cut(strings.NewReplacer("?", "/", "#", "/").Replace(m[2]), "/")
	isPort := port != "" && strings.Trim(port, "0123456789") == ""
	return !isPort || isHTTP(m[1])
}

func isHTTP(scheme string) bool {
	return strings.EqualFold(scheme, "http") || strings.EqualFold(scheme, "https")
}

func parseWithScheme(text string) (Seed, *LineError) {
	m := schemePattern.FindStringSubmatch(text)
	scheme, rest := strings.ToLower(m[1]), m[2]
	if !isHTTP(scheme) {
		return Seed{}, reject(text, "is of the scheme "+abbreviate(scheme)+", and only http and https are crawled", "")
	}
	host := strings.TrimLeft(rest, `/\`)
	if !strings.HasPrefix(rest, "//") || len(rest)-len(host) != 2 {
		instead := ""
		if host != "" {
			instead = scheme + "://" + host
		}
		return Seed{}, reject(text, "has not just two slashes after "+scheme+":", instead)
	}
	if instead := cutSecondScheme(host); instead != "" {
		return Seed{}, reject(text, "has a scheme twice", instead)
	}
	u, rejected := parseURL(text, text)
	if rejected != nil {
		return Seed{}, rejected
	}
	return Seed{URL: u}, nil
}

var secondScheme = regexp.MustCompile(`^(?i:(https?):?//)(.+)$`)

// cutSecondScheme returns the URL that was meant by "https://https://example.com" or
// "https://http//example.com"; "" for anything else.
func cutSecondScheme(afterFirst string) string {
	m := secondScheme.FindStringSubmatch(afterFirst)
	if m == nil {
		return ""
	}
	return strings.ToLower(m[1]) + "://" + m[2]
}

func netip6(s string) bool {
	addr, err := netip.ParseAddr(s)
	return err == nil && addr.Is6()
}

func parseURL(text, raw string) (page.URL, *LineError) {
	u, err := page.ParseURL(raw)
	if err != nil {
		return "", reject(text, "is not a URL: "+shorten(err), "")
	}
	return u, checkHost(text, u)
}
