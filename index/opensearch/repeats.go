package opensearch

import (
	"context"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/webindexer/indexer/index"
)

// What a site repeats on many of its pages, such as a menu, is not a good snippet. Index files
// keep the counts for each host (index/repeats.go). Here, each document has its sample of
// shingles, and the server counts them when a hit of a host is shown. A count for each host,
// written by all its documents, could not be a record with a version.
//
// The answer changes slowly and decides only where snippets are cut, so it is kept for a while.

const (
	// repeatsFor is how long the counts of a host are used.
	repeatsFor = 5 * time.Minute
	// repeatsHosts bounds for how many hosts they are kept, at a KiB each.
	repeatsHosts = 4096
	// repeatsPages bounds how many pages of a host each part of the index counts, so that no
	// host takes long. It counts the pages that were indexed first.
	repeatsPages = 20_000
)

// hostRepeats is what is known about hosts. It begins anew when it is full.
type hostRepeats struct {
	mu   sync.Mutex
	have map[string]knownRepeats
}

type knownRepeats struct {
	index.Repeated
	until time.Time
}

func (k *hostRepeats) get(host string) (index.Repeated, bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	r, ok := k.have[host]
	return r.Repeated, ok && time.Now().Before(r.until)
}

func (k *hostRepeats) add(host string, r index.Repeated) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.have == nil || len(k.have) >= repeatsHosts {
		k.have = make(map[string]knownRepeats)
	}
	k.have[host] = knownRepeats{r, time.Now().Add(repeatsFor)}
}

// repeats returns the shingles that hosts repeat.
func (s *session) repeats(ctx context.Context, hosts []string) (map[string]index.Repeated, error) {
	out := make(map[string]index.Repeated, len(hosts))
	var unknown []string
	for _, host := range hosts {
		if r, known := s.repeated.get(host); known {
			out[host] = r
		} else if !slices.Contains(unknown, host) {
			unknown = append(unknown, host)
		}
	}
	if len(unknown) == 0 {
		return out, nil
	}
	a, err := s.c.search(ctx, object{"size": 0, "query": kept(documents, object{"terms": object{"host": unknown}}), "aggs": repeatsOf(unknown)})
	if err != nil {
		return nil, err
	}
	for i, host := range unknown {
		var counted struct{ Pages pagesOfHost }
		if err := a.aggregation(strconv.Itoa(i), &counted); err != nil {
			return nil, err
		}
		out[host] = counted.Pages.repeated()
		s.repeated.add(host, out[host])
	}
	return out, nil
}

// repeatsOf counts the shingles of each host. At most half of all shingles can be on twice as
// many pages as the average, and no others are repeated (index.NewRepeated). So repeatsOf asks
// for half of them, the most frequent ones. Each part of the index sends all.
func repeatsOf(hosts []string) object {
	out := object{}
	for i, host := range hosts {
		out[strconv.Itoa(i)] = object{
			"filter": object{"term": object{"host": host}},
			"aggs": object{"pages": object{
				"sampler": object{"shard_size": repeatsPages},
				"aggs": object{
					"all":      object{"value_count": object{"field": "sample"}},
					"shingles": object{"terms": object{"field": "sample", "size": index.RepeatedSlots / 2, "shard_size": index.RepeatedSlots, "min_doc_count": 2}},
				},
			}},
		}
	}
	return out
}

// pagesOfHost is the server's answer.
type pagesOfHost struct {
	Documents int64 `json:"doc_count"`
	All       struct{ Value int64 }
	Shingles  struct {
		Buckets []struct {
			Key   uint16
			Count int32 `json:"doc_count"`
		}
	}
}

func (p *pagesOfHost) repeated() index.Repeated {
	counts := make(map[uint16]int32, len(p.Shingles.Buckets))
	for _, b := range p.Shingles.Buckets {
		counts[b.Key] = b.Count
	}
	return index.NewRepeated(p.Documents, p.All.Value, counts)
}
