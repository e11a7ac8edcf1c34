package search

import (
	"strings"
	"testing"
)

func TestAddressesOf(t *testing.T) {
	for _, c := range []struct{ query, want string }{
		{"https://a.example.org/x", "https://a.example.org/x https://a.example.org/x/ http://a.example.org/x http://a.example.org/x/ " +
			"https://www.a.example.org/x https://www.a.example.org/x/ http://www.a.example.org/x http://www.a.example.org/x/"},
		{" HTTP://www.Example.org/x/ ", "http://www.example.org/x/ http://www.example.org/x https://www.example.org/x/ https://www.example.org/x " +
			"http://example.org/x/ http://example.org/x https://example.org/x/ https://example.org/x"},
		{"https://localhost:8080/?a=b", "https://localhost:8080/?a=b http://localhost:8080/?a=b https://www.localhost:8080/?a=b http://www.localhost:8080/?a=b"},
		{"example.org", "https://example.org/ http://example.org/ https://www.example.org/ http://www.example.org/"},
		{"node.js", ""},
		{"array.sort", ""},
		{"2.4.1", ""},
		{"org", ""},
		{"/etc/hosts", ""},
		{"example.org lamp", ""},
		{"https://example.org/ lamp", ""},
		{"ftp://example.org/", ""},
		{"https://", ""},
		{"https://[", ""},
		{"", ""},
	} {
		if got := strings.Join(addressesOf(c.query), " "); got != c.want {
			t.Errorf("%q: %s, want %s", c.query, got, c.want)
		}
	}
}
