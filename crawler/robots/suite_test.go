package robots

import (
	"encoding/base64"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/webindexer/indexer/page"
)

// suiteMatch is one match case of a conformance suite.
type suiteMatch struct {
	Test    string
	Robots  string
	Base64  string `json:"robots_base64"`
	Agent   string
	Agents  []string
	Exact   bool
	URL     string
	Allowed bool
}

func (c suiteMatch) body(t *testing.T) []byte { return suiteBody(t, c.Robots, c.Base64) }

func (c suiteMatch) agent() string {
	if len(c.Agents) > 0 {
		return c.Agents[len(c.Agents)-1]
	}
	return c.Agent
}

// suiteBody is the file of a case: text, or bytes that are no text.
func suiteBody(t *testing.T, text, encoded string) []byte {
	t.Helper()
	if encoded == "" {
		return []byte(text)
	}
	body, err := base64.StdEncoding.DecodeString(encoded)
	if err != nil {
		t.Fatal(err)
	}
	return body
}

func loadSuite(t *testing.T, name string, into any) {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("../../../shared/suites/robots", name))
	if os.IsNotExist(err) {
		t.Skipf("the conformance suite %s is not here", name)
	}
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(data, into); err != nil {
		t.Fatal(err)
	}
}

// dialectCase is a case, or several of one test, that the RFC decides otherwise
// than the suite does, and the departure with which the suite's answer comes out.
type dialectCase struct {
	test string
	// url and agent (the last of several) narrow it down; "" means all cases of
	// the test that the RFC decides otherwise.
	url, agent string

	want int // how many cases that are
	opts Options
	why  string
}

// runMatches has all cases answered by the RFC. Those that come out otherwise than
// the suite says must be in the table, must be as many as the table says, and must
// come out right with the options there.
func runMatches(t *testing.T, cases []suiteMatch, names func(suiteMatch) []string, dialects []dialectCase) {
	t.Helper()
	answer := func(c suiteMatch, o Options) (bool, Rule) {
		return o.Parse(c.body(t)).Group(names(c)...).Allowed(page.URL(c.URL))
	}
	found := make([]int, len(dialects))
	for i, c := range cases {
		allowed, rule := answer(c, Options{})
		if allowed == c.Allowed {
			continue
		}
		d := dialectOf(c, dialects)
		if d < 0 {
			t.Errorf("case %d, %s: agent %q%q, %s: allowed %v by %v, want %v\n%s",
				i, c.Test, c.Agent, c.Agents, c.URL, allowed, rule, c.Allowed, c.body(t))
			continue
		}
		found[d]++
		if allowed, rule = answer(c, dialects[d].opts); allowed != c.Allowed {
			t.Errorf("case %d, %s: %s: allowed %v by %v even with the dialect, want %v", i, c.Test, c.URL, allowed, rule, c.Allowed)
		}
	}
	checkCounts(t, dialects, found)
}

func dialectOf(c suiteMatch, dialects []dialectCase) int {
	for i, d := range dialects {
		if d.test == c.Test && (d.url == "" || d.url == c.URL) && (d.agent == "" || d.agent == c.agent()) {
			return i
		}
	}
	return -1
}

func checkCounts(t *testing.T, dialects []dialectCase, found []int) {
	t.Helper()
	for i, d := range dialects {
		t.Logf("%s: %d cases with %+v: %s", d.test, found[i], d.opts, d.why)
		if found[i] != d.want {
			t.Errorf("%s %s %s: %d cases need the dialect, the table says %d", d.test, d.url, d.agent, found[i], d.want)
		}
	}
}
