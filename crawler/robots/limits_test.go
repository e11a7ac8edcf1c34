package robots

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"runtime"
	"strings"
	"testing"
	"unicode/utf16"

	"github.com/webindexer/indexer/page"
)

// TestSizeLimit: exactly the first 500 KiB are read, and nothing of the line that the
// limit cuts.
func TestSizeLimit(t *testing.T) {
	const last = "Disallow: /last\n"
	fill := func(n int) string {
		return "User-agent: *\n" + strings.Repeat("#", n-len("User-agent: *\n")-1) + "\n"
	}
	for _, c := range []struct {
		name    string
		body    string
		allowed bool
		ignored int
	}{
		{"all fits", fill(DefaultMaxBytes-len(last)) + last, false, 0},
		{"a comment too many", fill(DefaultMaxBytes-len(last)) + last + "# more\n", false, 7},
		{"cut in the line end", fill(DefaultMaxBytes-len(last)+1) + last, true, 1},
		{"cut to a shorter rule", fill(DefaultMaxBytes-len(last)+5) + last, true, 5},
		{"one endless line", strings.Repeat("Disallow: /", DefaultMaxBytes), true, 10 * DefaultMaxBytes},
	} {
		file := Parse([]byte(c.body))
		if allowed, rule := file.Group("indexer").Allowed("https://example.com/last"); allowed != c.allowed {
			t.Errorf("%s: allowed %v by %v", c.name, allowed, rule)
		}
		if got := file.Stats().Ignored; got != c.ignored {
			t.Errorf("%s: %d bytes ignored, want %d", c.name, got, c.ignored)
		}
	}
	if o := (Options{MaxBytes: 10}); o.Parse([]byte(fill(100))).Stats().Ignored != 0 {
		t.Error("a limit below that of the RFC was obeyed")
	}
	if o := (Options{MaxBytes: DefaultMaxBytes + 20}); o.Parse([]byte(fill(DefaultMaxBytes+10))).Stats().Ignored != 0 {
		t.Error("a higher limit was not obeyed")
	}
}

// TestSearchLimit: what would take too long to decide is disallowed, even by a file that only
// allows, and everything else is decided by its rules.
func TestSearchLimit(t *testing.T) {
	allow := func(i int) string { return fmt.Sprintf("Allow: /*aaaaaaab%d\n", i) }
	nested := func(i int) string { return "Disallow: /" + strings.Repeat("a", i) + "\n" }
	rest := "User-agent: *\nDisallow: /\nAllow: /a\n"
	for _, c := range []struct {
		name    string
		body    string
		octets  int // of the URL's path
		allowed bool
		rule    Rule
	}{
		{"the largest file, the longest URL", string(fullFile(allow)), page.MaxURLLength - 30, false, searchRule},
		{"the largest file, a usual URL", string(fullFile(starRule)), 150, true, Rule{Allow: true, Text: "no rule of robots.txt matches"}},
		{"500 wildcards, the longest URL", rest + string(rules(500, starRule)), page.MaxURLLength - 30, true, Rule{true, 3, "Allow: /a"}},
		{"plain rules, the longest URL", string(rules(900, nested)), page.MaxURLLength - 30, false, Rule{false, 901, strings.TrimSpace(nested(899))}},
	} {
		url := page.URL("https://example.com/" + strings.Repeat("a", c.octets-1))
		if allowed, rule := Parse([]byte(c.body)).Group("indexer").Allowed(url); allowed != c.allowed || rule != c.rule {
			t.Errorf("%s: allowed %v by %q, want %v by %q", c.name, allowed, rule, c.allowed, c.rule)
		}
	}
}

// TestMemory: a crawler keeps the groups of many hosts, so a group takes little more memory
// than its file, whatever the rules are.
func TestMemory(t *testing.T) {
	for _, c := range []struct {
		name  string
		rule  func(i int) string
		utf16 bool
	}{
		{"usual rules", plainRule, false},
		{"short rules", func(i int) string { return fmt.Sprintf("allow %x\n", i) }, false},
		{"only wildcards", func(int) string { return "allow *\n" }, false},
		{"many wildcards", func(int) string { return "allow " + strings.Repeat("*a", 20) + "\n" }, false},
		{"octets to escape", func(int) string { return "allow " + strings.Repeat("\xff", 1000) + "\n" }, false},
		{"queries in two forms", func(i int) string { return fmt.Sprintf("allow ?%%2f%x\n", i) }, false},
		{"UTF-16", func(int) string { return "allow " + strings.Repeat("ツ", 300) + "\n" }, true},
	} {
		body := fullFile(c.rule)
		if c.utf16 {
			body = asUTF16(body)
		}
		before := heapBytes()
		group := Parse(body).Group("indexer")
		if took, most := heapBytes()-before, MemoryFactor*int64(len(body)); took > most {
			t.Errorf("%s: %d bytes for a file of %d, at most %d are expected", c.name, took, len(body), most)
		}
		if len(group.rules) < 10 {
			t.Errorf("%s: only %d rules", c.name, len(group.rules))
		}
	}
}

// asUTF16 is the beginning of a file in UTF-16 that may be read.
func asUTF16(body []byte) []byte {
	out := []byte{0xFF, 0xFE}
	for _, unit := range utf16.Encode([]rune(string(body))) {
		out = binary.LittleEndian.AppendUint16(out, unit)
	}
	return out[:min(len(out), DefaultMaxBytes)]
}

func heapBytes() int64 {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

// TestPolicyLimit: a policy keeps no more than is read, and tells the user.
func TestPolicyLimit(t *testing.T) {
	body := bytes.Repeat([]byte("Disallow: /\n"), DefaultMaxBytes)
	p := Decide(Policy{}, page.Fetch{Status: 200, Body: body})
	if len(p.Copy.Body) != DefaultMaxBytes+1 || p.File().Stats().Ignored != 1 {
		t.Errorf("%d bytes are kept, %d ignored", len(p.Copy.Body), p.File().Stats().Ignored)
	}
	if !strings.Contains(p.Why, "only the first 512000 bytes are read") {
		t.Error(p.Why)
	}
	body[0] = 'x'
	if p.Copy.Body[0] != 'D' {
		t.Error("the copy shares memory with the fetch")
	}
}

// TestUnfetched: nothing may be fetched before the robots.txt is known.
func TestUnfetched(t *testing.T) {
	var p Policy
	if allowed, rule := p.Group("indexer").Allowed("https://example.com/"); allowed {
		t.Error(rule)
	}
	if !p.Due(specStart) {
		t.Error("not due")
	}
	p = Decide(p, page.Fetch{Status: 200, Time: specStart})
	if p.Due(p.Until.Add(-1)) || !p.Due(p.Until) {
		t.Error("due at the wrong time")
	}
}

// TestFingerprint: the fingerprint depends on what an agent is allowed and by which
// rules, not on the file.
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
