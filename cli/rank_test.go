package cli

import (
	"bufio"
	"encoding/json"
	"fmt"
	"net/url"
	"strings"
	"testing"
)

// A document has one rank, the sum over its members (semantics.md section 6), wherever it
// is shown: in results, their explanation, exports, and on the page of each member.
func TestOneRankEverywhere(t *testing.T) {
	data := lighthouseData(t)
	_, bakery := warcs(t)
	mustRun(t, "--data", data, "replay", bakery)
	type document struct {
		URL     string   `json:"url"`
		Title   string   `json:"title"`
		Rank    float64  `json:"rank"`
		Members []string `json:"members"`
	}
	var documents []document
	lines := bufio.NewScanner(strings.NewReader(mustRun(t, "--data", data, "export")))
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var d document
		if err := json.Unmarshal(lines.Bytes(), &d); err != nil {
			t.Fatal(err)
		}
		documents = append(documents, d)
	}
	inspect := func(s *served, u string) (i struct {
		Rank    *float64
		URLRank *float64 `json:"url_rank"`
	}) {
		text := ""
		if s == nil {
			text = mustRun(t, "--data", data, "inspect", "--format", "json", u)
		} else {
			text = s.get("/api/inspect?url=" + url.QueryEscape(u))
		}
		if err := json.Unmarshal([]byte(text), &i); err != nil {
			t.Fatal(err)
		}
		return i
	}
	s := startServe(t, "--data", data)
	shared := 0
	for _, d := range documents {
		shown := fmt.Sprintf("%.3f", d.Rank)
		sum := 0.0
		for _, m := range d.Members {
			for _, by := range []*served{nil, s} {
				if i := inspect(by, m); i.Rank == nil || *i.Rank != d.Rank {
					t.Errorf("%s of %s has the rank %v, want %v", m, d.URL, i.Rank, d.Rank)
				}
			}
			own := inspect(nil, m).URLRank
			sum += *own
			page := s.get("/doc?url=" + url.QueryEscape(m))
			if !strings.Contains(page, `<dt>Rank</dt><dd class="number">`+shown+"</dd>") {
				t.Errorf("the page of %s does not show the rank %s", m, shown)
			}
			if text := mustRun(t, "--data", data, "inspect", m); !strings.Contains(text, "\nrank             "+shown+"\n") && !strings.Contains(text, "\nrank             "+shown) {
				t.Errorf("inspect %s does not show the rank %s:\n%s", m, shown, text)
			}
			if *own != d.Rank {
				shared++
				if !strings.Contains(page, `<dt>Rank of this URL</dt><dd class="number">`+fmt.Sprintf("%.3f", *own)) {
					t.Errorf("the page of %s does not show its own rank", m)
				}
			}
		}
		if diff := sum - d.Rank; diff > 1e-9 || diff < -1e-9 {
			t.Errorf("%s has the rank %v, its members %v", d.URL, d.Rank, sum)
		}
		var found struct{ Hits []document }
		if err := json.Unmarshal([]byte(s.get("/api/query?per_host=0&limit=100&q="+url.QueryEscape(d.Title))), &found); err != nil {
			t.Fatal(err)
		}
		for _, h := range found.Hits {
			if h.URL == d.URL && h.Rank != d.Rank {
				t.Errorf("%s is found with the rank %v, want %v", h.URL, h.Rank, d.Rank)
			}
		}
	}
	if shared == 0 {
		t.Error("no document has two members with ranks")
	}

	// Nobody has heard of it.
	const unknown = "https://never.example/"
	if i := inspect(nil, unknown); i.Rank != nil || i.URLRank != nil {
		t.Errorf("an unknown URL has the rank %v", *i.Rank)
	}
	if text := mustRun(t, "--data", data, "inspect", unknown); !strings.Contains(text, "none: it was never fetched, and no known page links to it") {
		t.Errorf("of an unknown URL inspect tells\n%s", text)
	}
	if page := s.get("/doc?url=" + url.QueryEscape(unknown)); !strings.Contains(page, `<dt>Rank</dt><dd class="number"><span class="soft">none</span>`) {
		t.Errorf("of an unknown URL the page tells\n%s", page)
	}
	s.stop()
}
