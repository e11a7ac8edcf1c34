package robots

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/webindexer/indexer/internal/testenv"
	"github.com/webindexer/indexer/page"
)

// refRule is a rule of the reference, a matcher as simple as can be: it compiles
// every rule into a regular expression, tries them all, and keeps the best.
type refRule struct {
	allow bool
	path  string
}

func refAllowed(rules []refRule, path string) bool {
	if path == "/robots.txt" {
		return true
	}
	allowed, longest := true, -1
	for _, r := range rules {
		if octets, ok := r.match(path); ok && (octets > longest || octets == longest && r.allow) {
			allowed, longest = r.allow, octets
		}
	}
	return allowed
}

// match gives the length of the rule if path matches it in any of their forms.
func (r refRule) match(path string) (octets int, ok bool) {
	text, anchored := strings.CutSuffix(r.path, "$")
	pieces := strings.Split(text, "*")
	for i := range pieces {
		pieces[i] = refNormalise(pieces[i])
	}
	// NUL stands for the wildcard: normalised text has none.
	text = strings.Join(pieces, "\x00")
	octets = len(text)
	end := ""
	if anchored {
		octets++
		end = `\z`
	}
	for _, form := range []string{text, refFold(text)} {
		literal := regexp.QuoteMeta(form)
		re := regexp.MustCompile(`(?s)\A` + strings.ReplaceAll(literal, "\x00", ".*") + end)
		if slices.ContainsFunc([]string{refNormalise(path), refFold(refNormalise(path))}, re.MatchString) {
			return octets, true
		}
	}
	return 0, false
}

var (
	refUnit  = regexp.MustCompile(`(?s)%[0-9A-Fa-f]{2}|.`)
	refQuery = regexp.MustCompile(`(?s)\?.*`)
)

// refNormalise takes s as Latin-1, so that every octet is a rune.
func refNormalise(s string) string {
	var latin strings.Builder
	for i := 0; i < len(s); i++ {
		latin.WriteRune(rune(s[i]))
	}
	return refUnit.ReplaceAllStringFunc(latin.String(), func(unit string) string {
		octet := []rune(unit)[0]
		escaped := len(unit) == 3
		if escaped {
			if _, err := fmt.Sscanf(unit, "%%%02x", &octet); err != nil {
				panic(err)
			}
		}
		const always = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~!'(),:@[]$*"
		const asWritten = "/?#&=+;%"
		if strings.ContainsRune(always, octet) || !escaped && strings.ContainsRune(asWritten, octet) {
			return string(octet)
		}
		return fmt.Sprintf("%%%02X", octet)
	})
}

func refFold(s string) string {
	return refQuery.ReplaceAllStringFunc(s, func(query string) string {
		return strings.ReplaceAll(strings.ReplaceAll(query, "%2F", "/"), "%3F", "?")
	})
}

// rulesFrom makes rules of arbitrary text: a line each, its first octet deciding
// on allow or disallow, and the file that has them.
func rulesFrom(text string) (rules []refRule, body []byte) {
	var b strings.Builder
	b.WriteString("User-agent: *\n")
	for line := range strings.SplitSeq(text, "\n") {
		if line == "" || strings.ContainsAny(line, "\r#") {
			continue
		}
		r := refRule{allow: line[0]%2 == 0, path: strings.Trim(line[1:], blanks)}
		name := "Disallow"
		if r.allow {
			name = "Allow"
		}
		fmt.Fprintf(&b, "%s: %s\n", name, r.path)
		if r.path != "" {
			rules = append(rules, r)
		}
	}
	return rules, []byte(b.String())
}

func checkAgainstReference(t *testing.T, text, path string) {
	t.Helper()
	path = "/" + strings.NewReplacer("#", "", ";", "").Replace(path)
	rules, body := rulesFrom(text)
	if len(body) > DefaultMaxBytes {
		return
	}
	group := Parse(body).Group("indexer")
	if len(group.rules) != len(rules) {
		t.Fatalf("%d rules, want %d\n%s", len(group.rules), len(rules), body)
	}
	got, rule := group.Allowed(page.URL("https://example.com" + path))
	if want := refAllowed(rules, path); got != want || rule.Allow != got {
		t.Errorf("%q: allowed %v by %v, the reference says %v\n%q", path, got, rule, want, body)
	}
	form := canonical(path)
	all, _ := group.index.find(form, len(rules), MaxSearch)
	for budget := range 3 * len(form) {
		if some, left := group.index.find(form, len(rules), budget); left >= 0 && some != all {
			t.Errorf("%q: rule %d with %d octets to search, %d without limit\n%q", path, some, budget, all, body)
		}
	}
}

// TestMatchesReference draws rules and paths from an alphabet in which nearly
// everything is special.
func TestMatchesReference(t *testing.T) {
	rng := testenv.Random(t)
	alphabet := strings.Fields("a a a b / / ? * * $ %2F %2f %3F %2A %24 %41 : %3A % ツ & %26 \x80")
	word := func(n int) string {
		var b strings.Builder
		for range rng.IntN(n) {
			b.WriteString(alphabet[rng.IntN(len(alphabet))])
		}
		return b.String()
	}
	rounds := 20_000
	if testing.Short() {
		rounds = 2_000
	}
	for range rounds {
		var text strings.Builder
		for range rng.IntN(6) {
			text.WriteString(string("AD"[rng.IntN(2)]-'A'+'0') + "/" + word(8) + "\n")
		}
		checkAgainstReference(t, text.String(), word(12))
	}
}
