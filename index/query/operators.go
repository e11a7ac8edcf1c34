package query

import (
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"unicode"

	"github.com/webindexer/indexer/index/analysis"

	"golang.org/x/net/idna"
)

// operator recognises an operator in a word with a colon.
func (p *parser) operator(c *clause) (err error) {
	name, value, ok := strings.Cut(c.text, ":")
	if !ok {
		p.noteWord(c)
		return nil
	}
	switch name = strings.ToLower(name); name {
	case "site":
		c.kind = clauseSite
		c.text, err = parseSite(value)
	case "lang":
		c.kind = clauseLang
		c.text, err = parseLang(value)
	case "filetype", "ext":
		c.kind = clauseFileType
		if c.text, err = parseFileType(name, value); err == nil && !c.exclude {
			p.noteFileType(c.text)
		}
	case "intitle", "inurl":
		err = &UsageError{fmt.Sprintf("%s: needs a word, as in %s:guide", name, name)}
	case "after", "before":
		c.kind = clauseAfter
		if name == "before" {
			c.kind = clauseBefore
		}
		switch {
		case c.exclude:
			return &UsageError{fmt.Sprintf("-%s: is not supported; use before: and after:", name)}
		case p.depth > 0:
			return errWholeQuery
		}
		c.text, err = parseDay(name, value)
	default:
		p.noteOperator(name, value)
	}
	return err
}

// columnOperator returns the operator, intitle: or inurl:, and all that follows it. It
// returns "" if q does not begin with either, or nothing follows.
func columnOperator(q string) (clauseKind, string) {
	for _, o := range []struct {
		name string
		kind clauseKind
	}{{"intitle:", clauseTitle}, {"inurl:", clauseURL}} {
		if len(q) > len(o.name) && strings.EqualFold(q[:len(o.name)], o.name) && !unicode.IsSpace(firstRune(q[len(o.name):])) {
			return o.kind, q[len(o.name):]
		}
	}
	return 0, ""
}

func parseSite(value string) (string, error) {
	if value == "" {
		return "", &UsageError{"site: needs a host, as in site:example.org"}
	}
	host := value
	if i := strings.Index(host, "://"); i >= 0 {
		host = host[i+3:]
	}
	if address, err := netip.ParseAddr(strings.ToLower(host)); err == nil { // IPv6 without brackets looks like a port
		return address.String(), nil
	}
	u, err := url.Parse("//" + strings.ToLower(host))
	if err != nil || strings.Trim(u.Host, ".") == "" {
		return "", &UsageError{fmt.Sprintf("site:%s is not a host", value)}
	}
	if strings.Trim(u.Path, "/") != "" || u.RawQuery != "" {
		return "", &UsageError{fmt.Sprintf("site:%s has a path; site: takes a host, as in site:%s", value, u.Host)}
	}
	name, port := strings.Trim(u.Hostname(), "."), u.Port() // people also write .org
	switch {
	case strings.Contains(name, "*"):
		return "", &UsageError{fmt.Sprintf("site:%s has a wildcard; site:example.org also finds subdomains", value)}
	case strings.ContainsAny(name, "(),"):
		return "", &UsageError{fmt.Sprintf("site:%s is not a host; for several, write site:example.org OR site:example.com", value)}
	}
	if ascii, err := idna.Lookup.ToASCII(name); err == nil {
		name = ascii
	}
	if port != "" && port != "80" && port != "443" { // canonical URLs have no default port
		return net.JoinHostPort(name, port), nil
	}
	if _, err := netip.ParseAddr(name); err == nil {
		return name, nil
	}
	if bare := strings.TrimPrefix(name, "www."); strings.Contains(bare, ".") {
		name = bare
	}
	return name, nil
}

func parseLang(value string) (string, error) {
	for _, r := range value {
		if !(r == '-' || r == '_' || isASCIILetterOrDigit(r)) {
			return "", &UsageError{fmt.Sprintf("lang:%s is not a language tag such as lang:en or lang:pt-br", value)}
		}
	}
	if value == "" {
		return "", &UsageError{"lang: needs a language, as in lang:en"}
	}
	return strings.ReplaceAll(strings.ToLower(value), "_", "-"), nil
}

func parseFileType(operator, value string) (string, error) {
	if t := analysis.FileType(strings.TrimPrefix(value, ".")); t != "" {
		return t, nil
	}
	if value == "" {
		return "", &UsageError{fmt.Sprintf("%s: needs a file name extension, as in %s:txt", operator, operator)}
	}
	return "", &UsageError{fmt.Sprintf("%s:%s is not a file name extension such as %s:html or %s:txt", operator, shorten(value), operator, operator)}
}

// neverIndexed has file types that people look for, but whose files are never pages.
// officeTypes has those whose files are pages if a setting says so.
var (
	neverIndexed = strings.Fields("doc xls ppt rtf ps epub jpg jpeg png gif svg webp mp3 mp4 zip gz tar csv json xml")
	officeTypes  = strings.Fields("docx xlsx pptx odt ods odp")
)

func (p *parser) noteFileType(t string) {
	switch {
	case slices.Contains(neverIndexed, t):
		p.note("Only HTML and plain text are indexed: filetype:%s finds pages of these types whose URL ends in .%s.", t, t)
	case t == "pdf":
		p.noteIfNothing("PDF documents are indexed only with the setting pdf.")
	case slices.Contains(officeTypes, t):
		p.noteIfNothing("Office documents are indexed only with the setting office.")
	}
}

func isASCIILetterOrDigit(r rune) bool {
	return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9'
}
