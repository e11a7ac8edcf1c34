package opensearch

import (
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/webindexer/indexer/index"
	"github.com/webindexer/indexer/index/search"
	"github.com/webindexer/indexer/internal/opensearchtest"
	"github.com/webindexer/indexer/page"
)

// TestRemovedMeanwhile removes documents after the server has proposed them, and before their
// contents are read, including all of the firstLook that it proposed first. Then they are not
// hits, but the others are.
func TestRemovedMeanwhile(t *testing.T) {
	x, _ := openTest(t)
	server := opensearchtest.Shared(t)
	const n = firstLook + 100
	cluster := func(i int) page.ContentKey { return page.ContentKey{byte(i), byte(i >> 8), 1} }
	for round, kept := range []int{5, 0} {
		seq := uint64(2 * round)
		var added, gone []index.Change
		for i := range n {
			added = append(added, index.Upsert(&index.Document{Cluster: cluster(i), Seq: seq + 1, URL: page.URL(fmt.Sprintf("https://h%d.example/", i)), Title: "Rope", Text: fmt.Sprintf("number%d", i)}))
			if i < n-kept {
				gone = append(gone, index.Delete(cluster(i), seq+2))
			}
		}
		if err := errors.Join(x.Apply(t.Context(), added), x.c.refresh(t.Context(), x.c.address.name)); err != nil {
			t.Fatal(err)
		}
		var once sync.Once
		remove := func() {
			if err := errors.Join(x.Apply(t.Context(), gone), x.c.refresh(t.Context(), x.c.address.name)); err != nil {
				t.Error(err)
			}
		}
		pass := httputil.NewSingleHostReverseProxy(must(url.Parse(server.URL)))
		pass.Transport = &http.Transport{DisableKeepAlives: true}
		pass.ModifyResponse = func(r *http.Response) error { // which is not passed on yet
			if strings.Contains(r.Request.URL.RawQuery, "dfs_query_then_fetch") {
				once.Do(remove)
			}
			return nil
		}
		s := httptest.NewServer(pass)
		defer s.Close()
		shard := must(OpenShard(must(ParseAddress(prefix+s.URL+"/"+strings.ToLower(t.Name())+"?replicas=0")), Options{RetryFor: time.Minute}))
		defer shard.Close()
		if have, err := shard.Prepare(t.Context()); err != nil || have.Rebuild != "" {
			t.Fatal(have.Rebuild, err)
		}
		res, err := search.NewShards([]search.ShardSource{shard}).Search(t.Context(), "rope", search.Options{Limit: n})
		if err != nil {
			t.Fatal(err)
		}
		if len(res.Hits) != kept {
			t.Errorf("%d hits, want %d", len(res.Hits), kept)
		}
	}
}
