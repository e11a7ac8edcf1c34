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
	r := ranksShown{t: t, data: lighthouseData(t)}
	_, bakery := warcs(t)
	mustRun(t, "--data", r.data, "replay", bakery)
	documents := r.documents()
	r.server = startServe(t, "--data", r.data)
	shared := 0
	for _, d := range documents {
		sum := 0.0
		for _, m := range d.Members {
			own := r.checkMember(m, &d)
			if sum += own; own != d.Rank {
				shared++
			}
		}
		if diff := sum - d.Rank; diff > 1e-9 || diff < -1e-9 {
			t.Errorf("%s has the rank %v, its members %v", d.URL, d.Rank, sum)
		}
		r.checkFound(&d)
	}
	if shared == 0 {
		t.Error("no document has two members with ranks")
	}
	r.checkUnknown("https://never.example/")
	r.server.stop()
}

// ranksShown checks what shows the ranks of a data directory.
type ranksShown struct {
	t      *testing.T
	data   string
	server *served
}

// rankedDocument is a document in an export, or a hit.
type rankedDocument struct {
	URL     string   `json:"url"`
	Title   string   `json:"title"`
	Rank    float64  `json:"rank"`
	Members []string `json:"members"`
}

func (r *ranksShown) documents() (list []rankedDocument) {
	lines := bufio.NewScanner(strings.NewReader(mustRun(r.t, "--data", r.data, "export")))
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var d rankedDocument
		r.decode(lines.Text(), &d)
		list = append(list, d)
	}
	return list
}

func (r *ranksShown) decode(text string, into any) {
	r.t.Helper()
	if err := json.Unmarshal([]byte(text), into); err != nil {
		r.t.Fatal(err)
	}
}

// inspect returns what the command says about a URL, and what the server says.
func (r *ranksShown) inspect(u string) (answers [2]struct {
	Rank    *float64
	URLRank *float64 `json:"url_rank"`
}) {
	r.decode(mustRun(r.t, "--data", r.data, "inspect", "--format", "json", u), &answers[0])
	r.decode(r.server.get("/api/inspect?url="+url.QueryEscape(u)), &answers[1])
	return answers
}

// checkMember checks what is shown about a member of a document, and returns its share of the rank.
func (r *ranksShown) checkMember(member string, d *rankedDocument) float64 {
	answers := r.inspect(member)
	for _, i := range answers {
		if i.Rank == nil || *i.Rank != d.Rank {
			r.t.Errorf("%s of %s has the rank %v, want %v", member, d.URL, i.Rank, d.Rank)
		}
	}
	own, shown := *answers[0].URLRank, fmt.Sprintf("%.3f", d.Rank)
	page := r.server.get("/doc?url=" + url.QueryEscape(member))
	if !strings.Contains(page, `<dt>Rank</dt><dd class="number">`+shown+"</dd>") {
		r.t.Errorf("the page of %s does not show the rank %s", member, shown)
	}
	if text := mustRun(r.t, "--data", r.data, "inspect", member); !strings.Contains(text, "\nrank             "+shown+"\n") {
		r.t.Errorf("inspect %s does not show the rank %s:\n%s", member, shown, text)
	}
	if own != d.Rank && !strings.Contains(page, `<dt>Rank of this URL</dt><dd class="number">`+fmt.Sprintf("%.3f", own)) {
		r.t.Errorf("the page of %s does not show its own rank", member)
	}
	return own
}

// checkFound checks the rank of a document among the hits for its title.
func (r *ranksShown) checkFound(d *rankedDocument) {
	var found struct{ Hits []rankedDocument }
	r.decode(r.server.get("/api/query?per_host=0&limit=100&q="+url.QueryEscape(d.Title)), &found)
	for _, h := range found.Hits {
		if h.URL == d.URL && h.Rank != d.Rank {
			r.t.Errorf("%s is found with the rank %v, want %v", h.URL, h.Rank, d.Rank)
		}
	}
}

// checkUnknown checks that a URL that nobody has heard of has no rank.
func (r *ranksShown) checkUnknown(u string) {
	for _, i := range r.inspect(u) {
		if i.Rank != nil || i.URLRank != nil {
			r.t.Errorf("an unknown URL has the rank %v", *i.Rank)
		}
	}
	if text := mustRun(r.t, "--data", r.data, "inspect", u); !strings.Contains(text, "none: it was never fetched, and no known page links to it") {
		r.t.Errorf("of an unknown URL inspect tells\n%s", text)
	}
	if page := r.server.get("/doc?url=" + url.QueryEscape(u)); !strings.Contains(page, `<dt>Rank</dt><dd class="number"><span class="soft">none</span>`) {
		r.t.Errorf("of an unknown URL the page tells\n%s", page)
	}
}
