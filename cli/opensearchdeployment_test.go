package cli

import (
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"
)

// wantServerIndex wants the index on the OpenSearch server to have each document once, and
// to answer searches like the index files of one process that has loaded the same crawl.
func (f *fleet) wantServerIndex(c crawl) {
	f.t.Helper()
	var want, got struct{ Indexed int }
	decode(f.t, runIndexer(f.t, "--data", c.data, "--format", "json", "stats"), &want)
	decode(f.t, runIndexer(f.t, f.args("reader", "--format", "json", "stats")...), &got)
	onServer := f.countOnServer("kind:document")
	if got != want || onServer != want.Indexed || onServer == 0 {
		f.t.Errorf("%d documents in the store, %d on the server; one process has %d", got.Indexed, onServer, want.Indexed)
	}
	f.t.Logf("%d documents on the server", onServer)
	for _, words := range []string{"lighthouse", "harbour keeper", "apache", "kafka streams", "http server configuration", `"apache license"`, "site:kafka.apache.org producer", "mod_rewrite", "lucene index"} {
		f.wantSameHits(c, words)
	}
	runIndexer(f.t, f.args("reader", "check")...)
	f.wantOtherStoreRefused()
}

// wantOtherStoreRefused: a query with the index of this deployment and another store is refused, and
// `status` of that store says why nothing is exported.
func (f *fleet) wantOtherStoreRefused() {
	f.t.Helper()
	if f.postgres == nil {
		return
	}
	other := *f
	other.store = f.postgres.Schema(f.t)
	var out, said strings.Builder
	if status := Main(f.t.Context(), other.args("reader", "query", "lighthouse"), strings.NewReader(""), &out, &said); status != statusUsage || !strings.Contains(said.String(), "belongs to another repository") {
		f.t.Errorf("query with another store: exit status %d: %s", status, said.String())
	}
	for of, want := range map[*fleet]bool{f: false, &other: true} {
		var s state
		decode(f.t, runIndexer(f.t, of.args("reader", "--format", "json", "status")...), &s)
		if s.hasProblem("belongs to another store") != want {
			f.t.Errorf("status of %s: problems %q", of.store, s.Problems)
		}
	}
}

// allScored is up to how many matches a result of the server is that of index files.
// Above, a document that the server does not propose cannot be among the hits, so only the
// first hit has to be the same.
const allScored = 300

// wantSameHits searches for words as typed: the server corrects their spelling in another way.
func (f *fleet) wantSameHits(c crawl, words string) {
	f.t.Helper()
	var files, server found
	decode(f.t, runIndexer(f.t, "--data", c.data, "--format", "json", "query", "--verbatim", words), &files)
	decode(f.t, runIndexer(f.t, f.args("reader", "--format", "json", "query", "--verbatim", words)...), &server)
	want, got := files.urls(), server.urls()
	same := 0
	for same < min(len(want), len(got)) && want[same] == got[same] {
		same++
	}
	f.t.Logf("%s: %d documents, the first %d of %d hits are the same", words, files.Total, same, len(want))
	if files.Total != server.Total || len(want) != len(got) || same < len(want) && (files.Total <= allScored || same == 0) {
		f.t.Errorf("%s: %d documents, %s\nin index files %d, %s", words, server.Total, strings.Join(got, " "), files.Total, strings.Join(want, " "))
	}
}

// found is the part of the JSON of query that has to be the same.
type found struct {
	Total int
	Hits  []struct{ URL string }
}

func (r *found) urls() (urls []string) {
	for _, h := range r.Hits {
		urls = append(urls, h.URL)
	}
	return urls
}

// countOnServer counts records. An acknowledged one becomes searchable when the server
// refreshes the index, which it does once a second.
func (f *fleet) countOnServer(query string) int {
	f.t.Helper()
	refreshed, err := http.Post(strings.TrimPrefix(f.index, "opensearch+")+"/_refresh", "application/json", nil)
	if err != nil {
		f.t.Fatal(err)
	}
	if err := refreshed.Body.Close(); err != nil || refreshed.StatusCode != http.StatusOK {
		f.t.Fatalf("refresh: %s, %v", refreshed.Status, err)
	}
	resp, err := http.Get(strings.TrimPrefix(f.index, "opensearch+") + "/_count?q=" + query)
	if err != nil {
		f.t.Fatal(err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil || resp.StatusCode != http.StatusOK {
		f.t.Fatalf("count documents: %s, %v: %s", resp.Status, err, body)
	}
	var answer struct{ Count int }
	decode(f.t, string(body), &answer)
	return answer.Count
}

func decode(t *testing.T, text string, into any) {
	t.Helper()
	if err := json.Unmarshal([]byte(text), into); err != nil {
		t.Fatalf("%v: %s", err, text)
	}
}
