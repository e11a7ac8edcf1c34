package crawler

import (
	"testing"

	"indexer/crawler/fetch"
)

func TestConditionalOnlyWithoutStrikes(t *testing.T) {
	j := Job{URL: "https://a.example/", ETag: `"x"`, LastModified: "yesterday"}
	if got := conditional(j); got != (fetch.Request{URL: j.URL, ETag: j.ETag, LastModified: j.LastModified}) {
		t.Errorf("%+v", got)
	}
	j.Strikes = 1
	if got := conditional(j); got != (fetch.Request{URL: j.URL}) {
		t.Errorf("after a strike: %+v", got)
	}
}
