package opensearch

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"time"

	"github.com/webindexer/indexer/index"
)

// searchAnswer is what is read of the answer to a search.
type searchAnswer struct {
	TimedOut bool `json:"timed_out"`
	Shards   struct {
		Failed   int
		Failures []struct {
			Reason struct{ Type, Reason string }
		}
	} `json:"_shards"`
	Hits struct {
		Total struct{ Value int }
		Hits  []searchHit
	}
	Aggregations map[string]json.RawMessage
	Suggest      map[string][]struct {
		Options []struct {
			Text string
			Freq int
		}
	}
}

// searchHit is a record that was found, with the parts that the search asked for.
type searchHit struct {
	Source record            `json:"_source"`
	Sort   []json.RawMessage `json:"sort"`
	Fields values            `json:"fields"` // takeFields puts them into Source
}

// values are doc values. The server gives each as a list.
type values struct {
	Kind, Cluster, Touch, Digest []string
	Seq                          []uint64
	Rank                         []float64
	Fetched, Tokens              []int64
	Content, Columns, Sketch     []packed
	Sample                       []uint16
}

// packed is bytes as the server gives doc values: in base64 without padding.
type packed []byte

// UnmarshalJSON implements json.Unmarshaler.
func (p *packed) UnmarshalJSON(text []byte) (err error) {
	text = bytes.TrimRight(bytes.Trim(text, `"`), "=")
	if *p, err = base64.RawStdEncoding.AppendDecode(nil, text); err != nil {
		return fmt.Errorf("%w: a packed value on OpenSearch: %w", index.ErrCorrupt, err)
	}
	return nil
}

// takeFields completes the record with doc values.
func (h *searchHit) takeFields() {
	r, v := &h.Source, &h.Fields
	one(&r.Kind, v.Kind)
	one(&r.Cluster, v.Cluster)
	one(&r.Touch, v.Touch)
	one(&r.Digest, v.Digest)
	one(&r.Seq, v.Seq)
	one(&r.Rank, v.Rank)
	one(&r.Fetched, v.Fetched)
	one(&r.Tokens, v.Tokens)
	one((*packed)(&r.Content), v.Content)
	one((*packed)(&r.Columns), v.Columns)
	one((*packed)(&r.Sketch), v.Sketch)
	r.Sample = v.Sample
	h.Fields = values{}
}

func one[T any](into *T, list []T) {
	if len(list) > 0 {
		*into = list[0]
	}
}

// The doc values that are read.
var (
	// rowFields are those of every document that matches.
	rowFields = []string{"cluster", "seq", "rank", "fetched", "touch", "tokens"}
	// contentFields are those of candidates in addition.
	contentFields = append(slices.Clone(rowFields), "content", "columns", "sketch", "sample")
	// overlayFields are those of ranks and times.
	overlayFields = []string{"kind", "cluster", "seq", "rank", "fetched", "touch"}
)

// reading makes a search read doc values only, and not even the ids of records, for which the
// server would decompress what it stores of them.
func reading(fields []string, body object) object {
	body["stored_fields"], body["docvalue_fields"] = "_none_", fields
	return body
}

// readingSource makes a search read a part of the records in addition.
func readingSource(fields []string, source any, body object) object {
	body["_source"], body["docvalue_fields"] = source, fields
	return body
}

// check returns an error if a part of the index did not answer.
func (a *searchAnswer) check() error {
	if a.Shards.Failed == 0 && !a.TimedOut {
		return nil
	}
	e := &statusError{status: http.StatusServiceUnavailable, kind: "incomplete", reason: fmt.Sprintf("%d shards did not answer", a.Shards.Failed)}
	if f := a.Shards.Failures; len(f) > 0 {
		e.kind, e.reason = f[0].Reason.Type, f[0].Reason.Reason
	}
	return e
}

// search searches the index in use. When a rebuild has just ended, the index of a request
// may be gone before the request has ended. Then search repeats the request, which reaches
// the new index.
func (c *client) search(ctx context.Context, body object) (*searchAnswer, error) {
	return c.searchBy(ctx, "", body)
}

// byScore searches in the order of scores. All parts of the index compute them from the
// same statistics, which costs another round between them.
func (c *client) byScore(ctx context.Context, body object) (*searchAnswer, error) {
	return c.searchBy(ctx, "?search_type=dfs_query_then_fetch", body)
}

func (c *client) searchBy(ctx context.Context, how string, body object) (*searchAnswer, error) {
	for tries := 0; ; tries++ {
		a, err := c.searchAt(ctx, "/"+c.address.name+"/_search"+how, body)
		if !isNotFound(err) {
			return a, err
		}
		if tries == 3 {
			return nil, fmt.Errorf("%w at %s: %w", index.ErrNoIndex, c.address, err)
		}
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-time.After(50 * time.Millisecond):
		}
	}
}

func (c *client) searchAt(ctx context.Context, path string, body object) (*searchAnswer, error) {
	payload, err := json.Marshal(body)
	if err != nil {
		return nil, fmt.Errorf("encode a search for OpenSearch: %w", err)
	}
	var a searchAnswer
	err = c.retry(ctx, func() error {
		a = searchAnswer{}
		return errors.Join(c.once(ctx, http.MethodPost, path, payload, &a), a.check())
	})
	for i := range a.Hits.Hits {
		a.Hits.Hits[i].takeFields()
	}
	return &a, err
}

// documents is the condition that a record is a document.
var documents = object{"term": object{"kind": kindDocument}}

// kept returns a query that only selects records, in no order.
func kept(conditions ...object) object { return object{"bool": object{"filter": conditions}} }

// byID finds records by their ids.
func byID(ids []string) object { return object{"ids": object{"values": ids}} }

// countsOf counts the documents that meet each condition, all in one state of the index.
func (c *client) countsOf(ctx context.Context, conditions []object, more object) (counts []int, a *searchAnswer, err error) {
	aggregations := object{}
	maps.Copy(aggregations, more)
	if len(conditions) > 0 {
		aggregations["counts"] = object{"filters": object{"filters": conditions}}
	}
	a, err = c.search(ctx, object{"size": 0, "track_total_hits": true, "query": kept(documents), "aggs": aggregations})
	if err != nil || len(conditions) == 0 {
		return nil, a, err
	}
	buckets, err := a.buckets("counts")
	if err == nil && len(buckets) != len(conditions) {
		err = fmt.Errorf("OpenSearch counted %d sets of documents instead of %d", len(buckets), len(conditions))
	}
	for _, b := range buckets {
		counts = append(counts, b.Count)
	}
	return counts, a, err
}

type bucket struct {
	Key   string
	Count int `json:"doc_count"`
}

func (a *searchAnswer) buckets(name string) ([]bucket, error) {
	var out struct{ Buckets []bucket }
	err := a.aggregation(name, &out)
	return out.Buckets, err
}

func (a *searchAnswer) sum(name string) (int64, error) {
	var out struct{ Value float64 }
	err := a.aggregation(name, &out)
	return int64(out.Value), err
}

func (a *searchAnswer) aggregation(name string, out any) error {
	if err := json.Unmarshal(a.Aggregations[name], out); err != nil {
		return fmt.Errorf("read what OpenSearch counted (%s): %w", name, err)
	}
	return nil
}

// state counts and sums up all documents.
func (c *client) state(ctx context.Context, search func(context.Context, object) (*searchAnswer, error)) (s index.State, err error) {
	parts := []string{"sum0", "sum1", "sum2", "sum3"}
	aggregations := object{}
	for _, name := range parts {
		aggregations[name] = object{"sum": object{"field": name}}
	}
	a, err := search(ctx, object{"size": 0, "track_total_hits": true, "query": kept(documents), "aggs": aggregations})
	if err != nil {
		return s, err
	}
	s.Documents = a.Hits.Total.Value
	for i, name := range parts {
		part, err := a.sum(name)
		if err != nil {
			return s, err
		}
		s.Sum += index.Sum(uint64(part) << (16 * i))
	}
	return s, nil
}

func (c *client) refresh(ctx context.Context, target string) error {
	return c.call(ctx, http.MethodPost, "/"+target+"/_refresh", nil, nil)
}
