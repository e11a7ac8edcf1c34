package scope

import (
	"strings"
	"testing"

	"github.com/webindexer/indexer/page"
)

// FuzzTraps checks what every decision promises, whatever the URL; above all that
// the URL given instead of one with a session id leads to an end.
func FuzzTraps(f *testing.F) {
	for _, s := range []string{
		"https://example.com/a/b/a/b/a/b", "https://example.com/;jsessionid=1;x;phpsessid=2?sid=0123456789abcdef&a",
		"https://example.com/(S(abcdefgh1234))//x?cfid=1&cftoken=2", "https://example.com/calendar/2031/05-06?date=20310506",
		"https://example.com//(S(abcdefgh1234))", "https://u:p@example.com/?&&=&a=b&a=b&a=b",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, raw string) {
		u, err := page.ParseURL(raw)
		if err != nil {
			return
		}
		traps := mustTraps(t, specConfig(), nil)
		explained := check(t, traps.Explain, u)
		d := check(t, traps.Check, u)
		if d != explained {
			t.Errorf("%s: %+v, but explained as %+v", u, d, explained)
		}
		n, known := traps.Counts()[d.Rule]
		if d.Why == "" || d.OK && d.Rule != "trap.none" || !d.OK && (!known || n != 1) {
			t.Errorf("%s: %+v, counted %d", u, d, n)
		}
		if (d.Rule == "trap.session") != (d.Instead != "") {
			t.Errorf("%s: %+v", u, d)
		}
		if d.Instead == "" {
			return
		}
		if again, err := page.ParseURL(string(d.Instead)); err != nil || again != d.Instead || len(again) >= len(u) || again.Site() != u.Site() {
			t.Errorf("%s: instead %q: %q, %v", u, d.Instead, again, err)
		}
	})
}

// FuzzScope checks that patterns of any kind give an error or decide.
func FuzzScope(f *testing.F) {
	f.Add("a*", "^https?://[^/]+/$", "https://www.example.co.uk:81/a")
	f.Add("(", "[", "http://[::1]/")
	f.Fuzz(func(t *testing.T, include, exclude, raw string) {
		u, err := page.ParseURL(raw)
		if err != nil || len(include)+len(exclude) > 200 {
			return
		}
		for kind := range Kind(len(kindNames)) {
			config := Config{Kind: kind, MaxDepth: 3, Include: []string{include}, Exclude: []string{exclude}}
			s, err := New(config, []page.URL{u})
			if err != nil {
				return
			}
			d := s.Decide(u, 9)
			if d.OK != (d.Rule == "scope.seed") || !d.OK && d.Rule != "scope.exclude" {
				t.Errorf("%s as a seed: %+v", u, d)
			}
			if plain := mustScope(t, Config{Kind: kind}, u); !strings.HasPrefix(plain.Decide(u+"x", 0).Rule, "scope.") || plain.Decide(u, 0).Rule != "scope.seed" {
				t.Errorf("%s: %+v", u, plain.Decide(u, 0))
			}
		}
	})
}

func mustScope(t *testing.T, config Config, seeds ...page.URL) *Scope {
	t.Helper()
	s, err := New(config, seeds)
	if err != nil {
		t.Fatal(err)
	}
	return s
}
