package page

import (
	"bufio"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const urlSuites = "../../shared/suites/urls"

// wptCase is one object of the web platform tests' urltestdata.json.
type wptCase struct {
	Input    string
	Base     string
	Href     string
	Protocol string
	Failure  bool
}

// suiteCases reads the cases of a file of the web platform tests of URLs: its JSON objects.
// Strings between them are comments.
func suiteCases[T any](t *testing.T, name string) (cases []T) {
	t.Helper()
	content, err := os.ReadFile(filepath.Join(urlSuites, name))
	if err != nil {
		t.Skip("the suites are not beside the project: ", err)
	}
	var raw []json.RawMessage
	if err := json.Unmarshal(content, &raw); err != nil {
		t.Fatal(err)
	}
	for _, r := range raw {
		if r[0] != '{' {
			continue
		}
		var c T
		if err := json.Unmarshal(r, &c); err != nil {
			t.Fatal(err)
		}
		cases = append(cases, c)
	}
	return cases
}

// knownWPTMisses are the cases where we differ, and why. Not one may be added. All
// follow from one rule of semantics.md section 1, that hosts lose their trailing
// dots: the two spellings are one server. These agree with semantics.md and not with
// the suite.
var knownWPTMisses = map[string]string{
	"http://./":       "without trailing dots the host is empty",
	"http://../":      "without trailing dots the host is empty",
	"http://foo.09..": "without trailing dots the host is a bad IPv4 address",
}

// TestWPTURLs runs the http and https cases of the web platform tests, and those of ws and
// wss, which the standard parses alike. They say what the parser makes of a URL; the
// normalisation on top of it is applied to the wanted result as well.
func TestWPTURLs(t *testing.T) {
	n, misses := 0, make(map[string]bool)
	for _, c := range suiteCases[wptCase](t, "urltestdata.json") {
		if c = overHTTP(c); !isHTTPCase(c) {
			continue
		}
		n++
		if got, ok := runWPT(c); !ok {
			misses[c.Input] = true
			if knownWPTMisses[c.Input] == "" {
				t.Errorf("%q on %q: %q, want %q (failure %v)", c.Input, c.Base, got, c.Href, c.Failure)
			}
		}
	}
	for known := range knownWPTMisses {
		if !misses[known] {
			t.Errorf("%q is right now: take it off the list", known)
		}
	}
	t.Logf("%d cases, %d known misses", n, len(misses))
}

// overHTTP turns an absolute URL of ws into one of http, and one of wss into one of https:
// these schemes have the same default ports.
func overHTTP(c wptCase) wptCase {
	if c.Base != "" {
		return c // the scheme of the base may decide
	}
	for _, s := range []*string{&c.Input, &c.Href, &c.Protocol} {
		if rest, ok := strings.CutPrefix(*s, "ws"); ok && (strings.HasPrefix(rest, ":") || strings.HasPrefix(rest, "s:")) {
			*s = "http" + rest
		}
	}
	return c
}

func isHTTPCase(c wptCase) bool {
	if c.Failure {
		return strings.HasPrefix(c.Input, "http") || strings.HasPrefix(c.Base, "http")
	}
	return c.Protocol == "http:" || c.Protocol == "https:"
}

func runWPT(c wptCase) (got URL, ok bool) {
	var err error
	if base, baseErr := ParseURL(c.Base); baseErr == nil {
		got, err = base.Resolve(c.Input)
	} else {
		got, err = ParseURL(c.Input)
	}
	if c.Failure {
		return got, err != nil
	}
	want, wantErr := ParseURL(c.Href)
	if err != nil || wantErr != nil {
		return got, false
	}
	return got, got == want
}

// TestResolveSuite runs crawler-commons' table of references.
func TestResolveSuite(t *testing.T) {
	for _, fields := range readTable(t, "url-resolve.csv") {
		base, err := ParseURL(fields[1])
		if err != nil {
			continue // the base is of another scheme
		}
		want, err := ParseURL(fields[2])
		if err != nil {
			continue
		}
		if got, err := base.Resolve(fields[0]); got != want {
			t.Errorf("%q on %q: %q, %v; want %q", fields[0], base, got, err, want)
		}
	}
}

// TestInvalidURLs checks that bad URLs give errors, or canonical URLs, and never
// panic.
func TestInvalidURLs(t *testing.T) {
	for _, fields := range readTable(t, "invalidUrls.csv") {
		u, err := ParseURL(fields[0])
		if err != nil {
			continue
		}
		if again, err := ParseURL(string(u)); err != nil || again != u {
			t.Errorf("%q: %q is not canonical: %q, %v", fields[0], u, again, err)
		}
	}
}

func readTable(t *testing.T, name string) [][]string {
	t.Helper()
	file, err := os.Open(filepath.Join(urlSuites, name))
	if errors.Is(err, os.ErrNotExist) {
		t.Skip("the suites are not beside the project: ", err)
	}
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	var rows [][]string
	for lines := bufio.NewScanner(file); lines.Scan(); {
		if line := lines.Text(); line != "" && line[0] != '#' {
			fields := strings.Split(line, ",")
			for i := range fields {
				fields[i] = strings.Trim(fields[i], ` "`)
			}
			rows = append(rows, fields)
		}
	}
	return rows
}
