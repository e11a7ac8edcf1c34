package browsertest

import (
	"encoding/json"
	"os"
	"testing"

	"github.com/chromedp/cdproto/page"
)

// Axe checks pages by the rules of axe-core.
type Axe struct {
	tab    *Tab
	script string
}

// HasAxe reports whether tests were told where axe-core is.
func HasAxe() bool { return os.Getenv("INDEXER_AXE") != "" }

// Axe prepares axe-core, and skips the test if it is missing. It turns off content security
// policies in the tab, because they would block axe-core as well.
func (b *Tab) Axe(t testing.TB) *Axe {
	t.Helper()
	name := os.Getenv("INDEXER_AXE")
	if name == "" {
		t.Skip("INDEXER_AXE does not name axe.min.js (npm pack axe-core)")
	}
	script, err := os.ReadFile(name)
	if err != nil {
		t.Skip("cannot read axe-core: ", err)
	}
	b.Run(page.SetBypassCSP(true))
	return &Axe{b, string(script)}
}

// violation is a rule that a page breaks.
type violation struct {
	ID     string `json:"id"`
	Impact string `json:"impact"`
	Help   string `json:"help"`
	Nodes  []struct {
		HTML    string `json:"html"`
		Summary string `json:"failureSummary"`
	} `json:"nodes"`
}

// Judge fails the test for each rule that the page in the tab violates, whatever its
// impact. It does not look into frames.
func (a *Axe) Judge(label string) {
	t := a.tab.t
	t.Helper()
	var found string
	var there bool
	a.tab.Eval(`"axe" in window`, &there)
	if !there {
		a.tab.Eval(a.script+`;0`, nil)
	}
	a.tab.Await(`axe.run(document, {iframes: false}).then(r => JSON.stringify(r.violations))`, &found)
	var list []violation
	if err := json.Unmarshal([]byte(found), &list); err != nil {
		t.Fatal(err)
	}
	for _, v := range list {
		t.Errorf("%s: %s (%s): %s", label, v.ID, v.Impact, v.Help)
		for _, n := range v.Nodes[:min(len(v.Nodes), 3)] {
			t.Errorf("  %.200s: %s", n.HTML, n.Summary)
		}
	}
}
