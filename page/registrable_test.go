package page

import "testing"

func TestRegistrableDomain(t *testing.T) {
	for host, want := range map[string]string{
		"a.b.example.com":    "example.com",
		"a.example.co.uk":    "example.co.uk",
		"me.github.io":       "me.github.io",
		"co.uk":              "co.uk",
		"localhost":          "localhost",
		"127.0.0.1":          "127.0.0.1",
		"2001:db8::1":        "2001:db8::1",
		"[2001:db8::1]":      "[2001:db8::1]",
		"[::ffff:192.0.2.1]": "[::ffff:192.0.2.1]",
	} {
		if got := RegistrableDomain(host); got != want {
			t.Errorf("%s: %s, want %s", host, got, want)
		}
	}
}
