package page

import (
	"errors"
	"strings"

	whatwg "github.com/nlnwa/whatwg-url/url"
	"golang.org/x/net/idna"
)

// The parser implements "domain to ASCII" of an older standard: it validates punycode
// labels of ASCII domains, and refuses some non-ASCII domains for characters that only
// DNS host names must not have. Links to such hosts work in browsers. So this file
// converts the host before the parser sees it.
//
// The parser cannot be told to leave punycode labels alone. It also mistakes a label such as
// "-2" or "0x+f" for a number, and its host for an IPv4 address, although the numbers of the
// standard have no sign. Such labels are hidden from it (hideLabel) and restored afterwards
// (showLabel).

// newParser returns a parser that uses our "domain to ASCII", and the path percent-encode set
// of the present standard, which has "^".
func newParser() whatwg.Parser {
	return whatwg.NewParser(
		whatwg.WithPathPercentEncodeSet(whatwg.PathPercentEncodeSet.Set('^')),
		whatwg.WithPreParseHostFunc(func(u *whatwg.Url, host string) string {
			if hasDomain(u) && strings.HasSuffix(host, "]]") {
				return refusedHost // The parser ignores the second bracket of "[::1]]".
			}
			if !hasDomain(u) || strings.HasPrefix(host, "[") {
				return host
			}
			domain, err := domainToASCII(percentDecode(host))
			if err != nil {
				return refusedHost
			}
			return mapLabels(domain, hideLabel)
		}),
		whatwg.WithPostParseHostFunc(func(u *whatwg.Url, host string) string {
			if !hasDomain(u) {
				return host
			}
			return mapLabels(host, showLabel)
		}),
	)
}

func hasDomain(u *whatwg.Url) bool { return u.Scheme() == "http" || u.Scheme() == "https" }

// refusedHost is a host that the parser refuses, because the hook cannot return an error.
const refusedHost = "%"

var errDomain = errors.New("the host is not a domain")

// domains converts as the URL standard's "domain to ASCII" with beStrict false. Its
// tables are those of golang.org/x/net/idna, Unicode 15.
var domains = idna.New(
	idna.MapForLookup(),
	idna.BidiRule(),
	idna.CheckJoiners(true),
	idna.CheckHyphens(false),
	idna.VerifyDNSLength(false),
	idna.StrictDomainName(false),
	idna.Transitional(false),
)

// domainToASCII is the standard's "domain to ASCII". It only lower-cases an ASCII domain
// and does not check its punycode labels. The result has no forbidden character that
// could change how the parser reads it; the parser refuses the other forbidden characters.
func domainToASCII(domain string) (string, error) {
	if isASCII(domain) {
		domain = strings.ToLower(domain)
	} else {
		var err error
		if domain, err = domains.ToASCII(strings.ToValidUTF8(domain, "\uFFFD")); err != nil {
			return "", err
		}
	}
	if domain == "" || strings.ContainsAny(domain, "%[") {
		return "", errDomain
	}
	return domain, nil
}

func isASCII(s string) bool {
	for i := range len(s) {
		if s[i] >= 0x80 {
			return false
		}
	}
	return true
}

// percentDecode decodes each percent sign followed by two hex digits, once.
func percentDecode(s string) string {
	if strings.IndexByte(s, '%') < 0 {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if c, ok := EscapedByte(s[i:]); ok {
			b.WriteByte(c)
			i += 2
			continue
		}
		b.WriteByte(s[i])
	}
	return b.String()
}

// mapLabels applies a function to each label of a domain. All labels that it can change have
// a hyphen or a plus sign.
func mapLabels(domain string, change func(label string) string) string {
	if !strings.ContainsAny(domain, "-+") {
		return domain
	}
	labels := strings.Split(domain, ".")
	for i, l := range labels {
		labels[i] = change(l)
	}
	return strings.Join(labels, ".")
}

// hideLabel turns a label that the parser misreads into a plain one. It also changes labels
// that look like its results, so that showLabel is its inverse:
//
//	xn--x    xn-0-x
//	xn-0x    xn-00x
//	xn-1x    xn-01x
//	-2       xn-1-2
func hideLabel(label string) string {
	switch rest, ok := strings.CutPrefix(label, "xn-"); {
	case ok && rest != "" && strings.IndexByte("-01", rest[0]) >= 0:
		return "xn-0" + rest
	case isSigned(label):
		return "xn-1" + label
	}
	return label
}

func showLabel(label string) string {
	if rest, ok := strings.CutPrefix(label, "xn-0"); ok {
		return "xn-" + rest
	}
	return strings.TrimPrefix(label, "xn-1")
}

// isSigned reports whether the parser may read a label as a number with a sign.
func isSigned(label string) bool {
	label = strings.TrimPrefix(strings.TrimPrefix(label, "0"), "x")
	return label != "" && (label[0] == '-' || label[0] == '+')
}
