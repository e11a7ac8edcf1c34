package page

import (
	"strings"
	"testing"
)

func TestDomains(t *testing.T) {
	for _, c := range []struct{ host, want string }{ // want "": refused
		{"EXAMPLE.com", "example.com"},
		{"B%C3%BCcher.de", "xn--bcher-kva.de"},
		{"bücher.DE", "xn--bcher-kva.de"},
		{"bücher_1.de", "xn--bcher_1-n2a.de"},
		{"faß.de", "xn--fa-hia.de"},
		{"XN--A", "xn--a"},
		{"xn--", "xn--"},
		{"xn--zca.xn--a", "xn--zca.xn--a"},
		{"xn--a.ß", ""}, // with a non-ASCII label, all labels are validated
		{"xn-0-a.de", "xn-0-a.de"},
		{"xn-00a.de", "xn-00a.de"},
		{"ｘn-0-a.de", "xn-0-a.de"},
		{"a.xn-0-a.xn--b.xn-0a", "a.xn-0-a.xn--b.xn-0a"},
		{"1.2.3.xn--a", "1.2.3.xn--a"},
		{"-2", "-2"}, // numbers have no sign
		{"+2", "+2"},
		{"a.-2", "a.-2"},
		{"0x+E", "0x+e"},
		{"0-7", "0-7"},
		{"1.2.3.+4.", "1.2.3.+4"},
		{"+1.2", ""},
		{"0x-1.2.3.4", ""},
		{"xn-1-2.xn-1", "xn-1-2.xn-1"},
		{"a%2eb", "a.b"},
		{"%2541.de", ""},
		{"%5B::1]", ""},
		{"[::1]", "[::1]"},
		{"0x7F.1", "127.0.0.1"},
		{"a%00b", ""},
		{"a%FFb", ""},
		{"\u00ad", ""},
		{"a b", ""},
	} {
		u, err := ParseURL("http://" + c.host + "/")
		if got := u.Host(); got != c.want || (err == nil) != (c.want != "") {
			t.Errorf("%s: %q, %v; want %q", c.host, got, err, c.want)
		}
	}
}

// newer are characters whose mapping came or changed after Unicode 15, up to which
// golang.org/x/net/idna has tables. Domains with them are refused, or map as they
// did then.
var newer = []struct{ from, to rune }{
	{0x04c0, 0x04c0}, {0x10a0, 0x10c5}, {0x2132, 0x2132}, {0x2183, 0x2183}, {0x1e9e, 0x1e9e}, // capitals
	{0x115f, 0x1160}, {0x17b4, 0x17b5}, {0x180e, 0x180e}, {0x206a, 0x206f}, {0xffa0, 0xffa0}, {0x1d173, 0x1d17a}, // dropped
	{0x2f868, 0x2f9bf}, // compatibility ideographs
	{0x323b0, 0x33479}, // ideographs of Unicode 17
}

// isNewer reports that the suite's answer is that of a Unicode after the tables.
func isNewer(input string) bool {
	return strings.ContainsFunc(input, func(r rune) bool {
		for _, n := range newer {
			if n.from <= r && r <= n.to {
				return true
			}
		}
		return false
	})
}

type domainCase struct {
	Input  string
	Output *string // nil: refused
}

// TestDomainSuites runs the web platform tests of domain to ASCII.
func TestDomainSuites(t *testing.T) {
	for _, name := range []string{"toascii.json", "IdnaTestV2.json"} {
		n, later := 0, 0
		for _, c := range suiteCases[domainCase](t, name) {
			n++
			got, want := parsedHost(c.Input), ""
			if c.Output != nil {
				want = parsedHost(*c.Output) // our normalisation takes dots away
			}
			switch {
			case got == want:
			case isNewer(c.Input):
				later++
			default:
				t.Errorf("%s: %+q gives %q, want %q", name, c.Input, got, want)
			}
		}
		t.Logf("%s: %d cases, %d differ by the version of Unicode", name, n, later)
	}
}

func parsedHost(domain string) string {
	u, err := ParseURL("http://" + domain + "/x")
	if err != nil {
		return ""
	}
	return u.Host()
}
