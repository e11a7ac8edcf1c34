package opensearch

import (
	"cmp"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/webindexer/indexer/index/search"
)

// TestUnreachable: without a server there is an error that says so, soon.
func TestUnreachable(t *testing.T) {
	x := must(Open(must(ParseAddress(prefix+"http://127.0.0.1:1/name")), Options{RetryFor: time.Millisecond}))
	defer x.Close()
	_, err := x.Inspect(t.Context())
	if !errors.Is(err, search.ErrUnavailable) || !strings.HasPrefix(err.Error(), "OpenSearch at http://127.0.0.1:1/name did not answer") {
		t.Error(err)
	}
}

// TestAddress: which settings name an index. Errors never show a password.
func TestAddress(t *testing.T) {
	for setting, want := range map[string]string{
		"opensearch+http://127.0.0.1:9200/pages":                            "",
		"opensearch+https://search.example/web-index.1?shards=4&replicas=2": "",
		"opensearch+http://127.0.0.1:9200/":                                 "lower-case letters",
		"opensearch+http://127.0.0.1:9200/Pages":                            "lower-case letters",
		"opensearch+http://127.0.0.1:9200/_all":                             "lower-case letters",
		"opensearch+http://127.0.0.1:9200/a/b":                              "lower-case letters",
		"opensearch+ftp://127.0.0.1/pages":                                  "want opensearch+http",
		"opensearch+http:///pages":                                          "want opensearch+http",
		"opensearch+https://me:secret@search.example/pages":                 "must not hold a user",
		"opensearch+https://me:sec ret%zz@search.example/pages":             "want opensearch+http",
		"opensearch+http://h/pages?shards=0":                                "shards=0 is not allowed",
		"opensearch+http://h/pages?size=1":                                  "size=1 is not allowed",
	} {
		_, err := ParseAddress(setting)
		if got := fmt.Sprint(cmp.Or(err, errors.New(""))); want == "" && err != nil || !strings.Contains(got, want) || strings.Contains(got, "sec") {
			t.Errorf("%s: %v, want %q", setting, err, want)
		}
	}
}
