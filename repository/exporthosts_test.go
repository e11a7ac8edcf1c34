package repository_test

import (
	"cmp"
	"math"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/webindexer/indexer/export"
	"github.com/webindexer/indexer/internal/rank"
	"github.com/webindexer/indexer/page"
	"github.com/webindexer/indexer/repository"
)

// wantRanks: the rank of a document is the sum of those of its members.
func wantRanks(t *testing.T, r *repository.Repository, docs []export.Document) {
	t.Helper()
	several := 0
	for _, d := range docs {
		sum := 0.0
		for _, m := range d.Members {
			sum += *inspected(t, r, m).URLRank
		}
		if math.Abs(d.Rank-sum) > 1e-9 {
			t.Errorf("%s has the rank %g, its members %g", d.URL, d.Rank, sum)
		}
		if len(d.Members) > 1 {
			several++
		}
	}
	if several == 0 {
		t.Error("no document has several members")
	}
}

// wantHosts: the ranks of hosts are the sums of the ranks that inspect shows for all of
// their URLs.
func wantHosts(t *testing.T, r *repository.Repository, web []page.Fetch, links []export.Link, file []byte) {
	t.Helper()
	urls := make(map[page.URL]bool)
	for _, f := range web {
		urls[f.URL] = true
	}
	for _, l := range links {
		urls[l.Target] = true
	}
	for u := range urls { // where redirects lead counts, fetched or not
		i := inspected(t, r, u)
		if i.LeadsTo != "" && !urls[i.LeadsTo] {
			urls[i.LeadsTo] = true
		}
	}
	want, total := make(map[string]float64), 0.0
	for u := range urls {
		i := inspected(t, r, u)
		if i.URLRank == nil || i.Outcome == page.Failed.String() && *i.URLRank == rank.Teleport {
			continue // never there, and without links
		}
		want[export.ReverseHost(u.Host())] += *i.URLRank
		total += *i.URLRank
	}
	lines := strings.Split(strings.TrimSpace(string(file)), "\n")
	if lines[0] != "#harmonicc_pos\t#harmonicc_val\t#pr_pos\t#pr_val\t#host_rev" || len(lines)-1 != len(want) {
		t.Errorf("%q, and %d hosts, want %d", lines[0], len(lines)-1, len(want))
	}
	centrality := centralities(t, r, urls)
	last, sum := math.Inf(1), 0.0
	shares := make([]float64, len(want)+1) // by place
	for n, line := range lines[1:] {
		fields := strings.Split(line, "\t")
		var numbers [4]float64
		for i := range numbers {
			var err error
			if numbers[i], err = strconv.ParseFloat(fields[i], 64); err != nil {
				t.Fatalf("line %d: %q, %v", n, line, err)
			}
		}
		host, harmonic, place, share := fields[4], numbers[1], int(numbers[2]), numbers[3]
		if fields[0] != strconv.Itoa(n+1) || harmonic > last || place < 1 || place > len(want) || shares[place] != 0 {
			t.Fatalf("line %d: %q", n, line)
		}
		if math.Abs(share-want[host]/total) > 1e-9 || math.Abs(harmonic-centrality[host]) > 1e-9 {
			t.Errorf("%s has %g and %g, want %g and %g", host, share, harmonic, want[host]/total, centrality[host])
		}
		last, sum, shares[place] = harmonic, sum+share, share
	}
	if math.Abs(sum-1) > 1e-9 {
		t.Errorf("all ranks are %g", sum)
	}
	if !slices.IsSortedFunc(shares[1:], func(a, b float64) int { return cmp.Compare(b, a) }) {
		t.Errorf("by place the ranks are %v", shares[1:])
	}
}

// centralities are those of hosts by the links and redirects that inspect shows, from a
// search of each host.
func centralities(t *testing.T, r *repository.Repository, urls map[page.URL]bool) map[string]float64 {
	t.Helper()
	to := make(map[string][]string)
	for u := range urls {
		i := inspected(t, r, u)
		from := export.ReverseHost(u.Host())
		for _, l := range i.Outlinks {
			to[from] = append(to[from], export.ReverseHost(l.URL.Host()))
		}
		if i.Outcome == page.Redirect.String() && i.LeadsTo != "" {
			to[from] = append(to[from], export.ReverseHost(i.LeadsTo.Host()))
		}
	}
	sums := make(map[string]float64)
	for from := range to {
		distance := map[string]int{from: 0}
		for queue := []string{from}; len(queue) > 0; queue = queue[1:] {
			for _, next := range to[queue[0]] {
				if _, seen := distance[next]; !seen {
					distance[next] = distance[queue[0]] + 1
					sums[next] += 1 / float64(distance[next])
					queue = append(queue, next)
				}
			}
		}
	}
	if len(sums) == 0 {
		t.Error("no host links to another")
	}
	return sums
}
