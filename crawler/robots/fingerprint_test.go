package robots

import "testing"

// The fingerprint is of what is allowed to an agent, by which rules, and not of the
// file.
func TestFingerprint(t *testing.T) {
	of := func(body, agent string) string { return Parse([]byte(body)).Group(agent).Fingerprint() }
	const base = "User-agent: *\nDisallow: /a\nAllow: /a/b\n"
	for _, tt := range []struct {
		name, body, agent string
		same              bool
	}{
		{"the same", base, "indexer", true},
		{"a comment", "# new\n\n" + base + "\n# end", "indexer", true},
		{"a comment on a line", "User-agent: * # all\nDisallow: /a # private\nAllow: /a/b\n", "indexer", true},
		{"a group of others", base + "User-agent: other\nDisallow: /\n", "indexer", true},
		{"a sitemap, a delay", base + "Sitemap: https://a.example/s.xml\n", "indexer", true},
		{"for another", base + "User-agent: other\nDisallow: /\n", "other", false},
		{"a rule more", base + "Disallow: /c\n", "indexer", false},
		{"a rule less", "User-agent: *\nDisallow: /a\n", "indexer", false},
		{"the other way round", "User-agent: *\nAllow: /a\nDisallow: /a/b\n", "indexer", false},
		{"nothing", "", "indexer", false},
	} {
		if same := of(tt.body, tt.agent) == of(base, "indexer"); same != tt.same {
			t.Errorf("%s: same is %t", tt.name, same)
		}
	}
	allow, none := (Policy{Verdict: AllowAll}).Group("indexer"), (Policy{Verdict: DisallowAll}).Group("indexer")
	if allow.Fingerprint() == none.Fingerprint() || allow.Fingerprint() != of("", "indexer") {
		t.Error("what allows all is not what disallows all, but what an empty file is")
	}
}
