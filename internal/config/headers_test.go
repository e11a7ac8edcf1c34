package config

import "testing"

func TestHeaders(t *testing.T) {
	for line, want := range map[string]Header{
		"https://a.example Authorization: Bearer x":    {"https://a.example", "Authorization", "Bearer x"},
		"http://a.example:8080/ x-token:@secret.txt":   {"http://a.example:8080", "X-Token", "@secret.txt"},
		"https://[::1]:1 Cookie: a=b; c=d":             {"https://[::1]:1", "Cookie", "a=b; c=d"},
		"a.example Authorization: x":                   {},
		"https://a.example":                            {},
		"https://a.example Authorization":              {},
		"https://a.example Authorization:":             {},
		"https://a.example : x":                        {},
		"https://a.example bad name: x":                {},
		"https://a.example/path Authorization: x":      {},
		"https://me@a.example Authorization: x":        {},
		"ftp://a.example Authorization: x":             {},
		"https://a.example User-Agent: x":              {},
		"https://a.example host: b.example":            {},
		"https://a.example transfer-encoding: chunked": {},
		"https://a.example X: a\x00b":                  {},
	} {
		got, ok := parseHeader(line)
		if !ok {
			got = Header{}
		}
		if got != want {
			t.Errorf("%q: got %q, want %q", line, got, want)
		}
		if areHeaders(line) != ok {
			t.Errorf("%q is allowed: %v, and read: %v", line, !ok, ok)
		}
	}
}

func FuzzHeader(f *testing.F) {
	f.Add("https://a.example Authorization: Bearer @x")
	f.Add("http://[::1]:8080/ Cookie: a=b")
	f.Fuzz(func(t *testing.T, line string) {
		h, ok := parseHeader(line)
		if !ok {
			return
		}
		if again, ok := parseHeader(h.Site + " " + h.Name + ": " + h.Value); !ok || again != h {
			t.Errorf("%q reads as %q, and that as %q", line, h, again)
		}
	})
}
