package opensearch

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/webindexer/indexer/index"
	"github.com/webindexer/indexer/index/search"
)

// TestUnrequested: a server that answers with a document that was not requested gets an error.
func TestUnrequested(t *testing.T) {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		request, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		cluster := "other"
		if strings.Contains(string(request), `"stored.more"`) { // the rest is requested next
			cluster = "asked"
		}
		hit := record{Kind: kindDocument, Cluster: cluster, Stored: &stored{Head: index.PackText("a ferry"), Rest: index.PackText("and a harbour"), More: true}}
		source, err := json.Marshal(&hit)
		if err != nil {
			t.Error(err)
		}
		fmt.Fprintf(w, `{"hits":{"hits":[{"_source":%s}]}}`, source)
	}))
	defer s.Close()
	shard := must(OpenShard(must(ParseAddress(prefix+s.URL+"/name")), Options{RetryFor: time.Minute}))
	defer shard.Close()
	shard.repeated.add("", index.Repeated{})
	session := must(shard.Begin(t.Context())).(*session)
	asked := searchHit{Source: record{Cluster: "asked"}}
	session.docs[1] = &candidate{asked.Source, &content{about: new(about)}}
	if _, err := session.read(t.Context(), []searchHit{asked}); !errors.Is(err, index.ErrCorrupt) {
		t.Errorf("read: %v", err)
	}
	for name, q := range map[string]*search.Question{
		"typed":    {Typed: &search.TypedQuestion{IDs: []int64{1}, Words: []string{"ferry", "harbour"}}},
		"passages": {Passages: &search.PassagesQuestion{IDs: []int64{1}}},
		"hits":     {Hits: &search.HitsQuestion{IDs: []int64{1}, Query: "ferry"}},
	} {
		if _, err := session.Ask(t.Context(), q); !errors.Is(err, index.ErrCorrupt) || !strings.Contains(err.Error(), "not requested: other") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestIncompleteAnswers: an answer that lacks what the next request needs is an error. A scan does not begin
// again, and no record counts as written.
func TestIncompleteAnswers(t *testing.T) {
	hit := must(json.Marshal(&record{Kind: kindDocument, Cluster: "one"}))
	scans := 0
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasSuffix(r.URL.Path, "/_bulk") {
			io.WriteString(w, `{"items":[{"index":{}}]}`)
			return
		}
		if scans++; scans > 1 {
			io.WriteString(w, `{"hits":{"hits":[]}}`)
			return
		}
		fmt.Fprintf(w, `{"hits":{"hits":[{"_source":%s}]}}`, hit)
	}))
	defer s.Close()
	shard := must(OpenShard(must(ParseAddress(prefix+s.URL+"/name")), Options{RetryFor: time.Nanosecond}))
	defer shard.Close()
	view := View{c: shard.c}
	err := view.scan(t.Context(), 1, byCluster, nil, nil, func([]*record) (bool, error) { return true, nil })
	if !errors.Is(err, index.ErrCorrupt) {
		t.Errorf("scan: %v, want ErrCorrupt", err)
	}
	err = shard.c.put(t.Context(), "name", []write{{id: "one", version: 1, line: []byte("{}")}})
	if !errors.Is(err, search.ErrUnavailable) {
		t.Errorf("bulk: %v, want ErrUnavailable", err)
	}
}

// TestClosed: a closed index is one that does not answer at the moment, so exports wait until it is opened.
func TestClosed(t *testing.T) {
	const closed = `"error":{"type":"index_closed_exception","reason":"closed"},"status":400`
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasSuffix(r.URL.Path, "/_bulk") {
			io.WriteString(w, `{"items":[{"index":{`+closed+`}}]}`)
			return
		}
		http.Error(w, "{"+closed+"}", http.StatusBadRequest)
	}))
	defer s.Close()
	x := must(Open(must(ParseAddress(prefix+s.URL+"/name")), Options{RetryFor: time.Nanosecond}))
	defer x.Close()
	_, searched := x.c.search(t.Context(), object{})
	written := x.c.put(t.Context(), "name", []write{{id: "one", version: 1, line: []byte("{}")}})
	for _, err := range []error{searched, written} {
		if !errors.Is(err, search.ErrUnavailable) || !strings.Contains(err.Error(), "closed") {
			t.Errorf("%v, want ErrUnavailable and closed", err)
		}
	}
}
