package web_test

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/webindexer/indexer/index/search"
	"github.com/webindexer/indexer/web"
	"github.com/webindexer/indexer/web/browsertest"
)

// suggestable is two sites whose pages have names worth typing.
func suggestable(t *testing.T) *stand {
	t.Helper()
	return newStand(t, append(webs(t, "cjk"),
		fetched("https://sea.example/", 1, `<html lang="en"><title>Lighthouses of the north</title><p>Towers by the sea. <a href="/lamp">Lamps</a> <a href="https://cafe.example/">Café by the light</a>`),
		fetched("https://sea.example/lamp", 1, `<html lang="en"><title>Lamp & <lens> lore</title><p>What the keeper knows. <a href="/">Lighthouses</a>`),
		fetched("https://cafe.example/", 1, `<html lang="fr"><title>Crème brûlée "maison"</title><p>La recette. <a href="https://sea.example/">Lighthouses</a>`)), nil)
}

// suggested asks for suggestions.
func (s *stand) suggested(query string) []string {
	s.t.Helper()
	a := s.do("/api/suggest?"+query, nil)
	if a.status != http.StatusOK || a.header.Get("Content-Type") != "application/x-suggestions+json" {
		s.t.Fatalf("%s: %d %s\n%s", query, a.status, a.header.Get("Content-Type"), a.body)
	}
	var typed string
	var texts []string
	if err := json.Unmarshal([]byte(a.body), &[]any{&typed, &texts}); err != nil {
		s.t.Fatalf("%s: %v: %s", query, err, a.body)
	}
	if params, err := url.ParseQuery(query); err != nil || typed != params.Get("q") {
		s.t.Errorf("%s: the answer is for %q (%v)", query, typed, err)
	}
	return texts
}

func TestSuggest(t *testing.T) {
	s := suggestable(t)
	for _, tt := range []struct {
		query string
		want  []string
	}{
		{"q=lig", []string{"Lighthouses", "Lighthouses of the north"}},
		{"q=LIGHTH&limit=1", []string{"Lighthouses"}},
		{"q=nor", []string{"Lighthouses of the north"}},
		{"q=the+light", []string{"Lighthouses of the north"}}, // and not the text of a single link
		{"q=lens", []string{"Lamp & <lens> lore"}},
		{"q=creme", []string{"Crème brûlée maison"}},
		{"q=CR%C3%88ME+BR", []string{"Crème brûlée maison"}},
		{"q=cr&site=sea.example", nil},
		{"q=l&lang=fr", nil},
		{"q=" + url.QueryEscape("歩き"), []string{"駅の歩き方"}},
		{"q=xylophone", nil}, {"q=", nil}, {"", nil}, {"q=%00", nil}, {"q=site:sea.example", nil},
	} {
		if got := s.suggested(tt.query); !slices.Equal(got, tt.want) {
			t.Errorf("%s: %q, want %q", tt.query, got, tt.want)
		}
	}
	for _, query := range []string{"q=a&limit=0", "q=a&limit=21", "q=a&site=a%20b", "q=" + strings.Repeat("a", 1001)} {
		if a := s.do("/api/suggest?"+query, nil); a.status != http.StatusBadRequest || a.header.Get("Content-Type") != "application/json" {
			t.Errorf("%s: %d", query, a.status)
		}
	}
	if a := s.do("/opensearch.xml", func(r *http.Request) { r.Host = "localhost:7070" }); !strings.Contains(a.body, `<Url type="application/x-suggestions+json" method="get" template="http://localhost:7070/api/suggest?q={searchTerms}">`) {
		t.Errorf("browsers do not learn of suggestions:\n%s", a.body)
	}
}

// patient is a searcher that completes nothing until its client has gone.
type patient struct {
	web.Searcher
	asked, answered chan error
}

func (p *patient) Complete(ctx context.Context, _ search.CompletionQuestion) ([]search.Completion, error) {
	p.asked <- nil
	<-p.answered
	p.asked <- ctx.Err()
	return nil, nil
}

// The next key that is pressed does not end the request that makes the table.
func TestSuggestOutlivesItsClient(t *testing.T) {
	p := &patient{asked: make(chan error), answered: make(chan error)}
	s := newStand(t, webs(t, "bakery"), func(o *web.Options) { p.Searcher, o.Search = o.Search, p })
	ctx, cancel := context.WithCancel(t.Context())
	gone := make(chan error, 1)
	go func() {
		r, err := http.NewRequestWithContext(ctx, http.MethodGet, s.http.URL+"/api/suggest?q=b", nil)
		if err == nil {
			_, err = s.http.Client().Do(r) //nolint:bodyclose // there is no answer
		}
		gone <- err
	}()
	<-p.asked
	cancel()
	if err := <-gone; !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
	s.http.CloseClientConnections()
	p.answered <- nil
	if err := <-p.asked; err != nil {
		t.Errorf("the request ended with its client: %v", err)
	}
}

// A visitor completes a query with the keyboard, and with the mouse; keys do what the
// combobox pattern says.
func TestBrowserSuggestions(t *testing.T) {
	b := browsertest.Open(t)
	s := suggestable(t)
	s.suggested("q=l") // makes the table
	var axe *browsertest.Axe
	if browsertest.HasAxe() {
		axe = b.Axe(t)
	}
	const (
		list   = `document.querySelector("#suggestions")`
		field  = `document.querySelector("input[data-focus]")`
		chosen = `document.querySelector("#suggestions [aria-selected=true]")`
		shown  = `document.querySelectorAll("#suggestions:not([hidden]) li").length`
	)
	b.Visit(s.http.URL + "/")
	b.Until(list + ` !== null`)
	b.Want("before", field+`.role + " " + `+field+`.getAttribute("aria-expanded")`, "combobox false")
	b.Run(chromedp.SendKeys("#q", "l"))
	b.Until(shown + ` === 3`)
	b.Want("typed", `Array.from(`+list+`.children, e => e.textContent).join(", ")`, "Lighthouses, Lighthouses of the north, Lamp & <lens> lore")
	b.Want("typed", field+`.getAttribute("aria-expanded") + " " + `+field+`.getAttribute("aria-activedescendant")`, "true null")
	b.Run(chromedp.KeyEvent(kb.ArrowUp))
	b.Want("up from the field", chosen+`.textContent`, "Lamp & <lens> lore")
	b.Run(chromedp.KeyEvent(kb.ArrowDown))
	b.Want("down from the last", field+`.getAttribute("aria-activedescendant")`, "suggestion-0")
	b.Want("down from the last", field+`.value`, "l")
	for _, look := range browsertest.Looks {
		b.Look(look)
		label := "suggestions-" + look.String()
		b.Fits(label, look)
		b.Picture(label)
		if axe != nil {
			axe.Judge(label)
		}
	}
	b.Look(browsertest.Looks[0])
	b.Run(chromedp.KeyEvent(kb.Escape))
	b.Want("escape", shown+` + " " + `+field+`.value + " " + `+chosen, "0 l null")
	b.Want("escape", `document.activeElement === `+field, "true")
	b.Run(chromedp.KeyEvent(kb.ArrowDown))
	b.Want("down opens the list", chosen+`.textContent`, "Lighthouses")
	b.Run(chromedp.KeyEvent("\r"), chromedp.WaitVisible("ol.results", chromedp.ByQuery))
	b.Want("enter", `new URL(location.href).searchParams.get("q")`, "Lighthouses")

	b.Until(list + ` !== null`)
	b.Eval(field+`.value = ""`, nil)
	b.Run(chromedp.Focus("#top-q"), input.InsertText("brulee")) // in one event: nothing is suggested for a part of it
	b.Until(shown + ` === 1`)
	b.Run(chromedp.Click("#suggestions li", chromedp.ByQuery), chromedp.WaitVisible(`input[value^="Crème"]`, chromedp.ByQuery))
	b.Want("click", `new URL(location.href).searchParams.get("q")`, "Crème brûlée maison")
	// Enter without a choice searches for what was typed, and escape leaves the field at last.
	b.Until(list + ` !== null`)
	b.Eval(field+`.value = ""`, nil)
	b.Run(chromedp.Focus("#top-q"), input.InsertText("lamp"))
	b.Until(shown + ` === 1`)
	b.Run(chromedp.KeyEvent(kb.Escape), chromedp.KeyEvent(kb.Escape))
	b.Want("escape again", `(document.activeElement === `+field+`) + " " + `+field+`.value`, "false lamp")
	b.Run(chromedp.Focus("#top-q"), chromedp.KeyEvent("\r"), chromedp.WaitVisible(`input[value="lamp"]`, chromedp.ByQuery))
	b.Quiet(s.http.URL)
}
