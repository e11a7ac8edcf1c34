package opensearch

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"

	"github.com/webindexer/indexer/index"
)

// View is one state of the index, which the server keeps readable (a point in time). Close
// it soon.
type View struct {
	c     *client
	id    string
	state index.State
}

// keepAlive is how long the server keeps the state after each request.
const keepAlive = "10m"

// Snapshot shows everything that was written before.
func (x *Index) Snapshot(ctx context.Context) (*View, error) {
	name := x.c.address.name
	err := x.c.refresh(ctx, name)
	var opened struct {
		ID string `json:"pit_id"`
	}
	if err == nil {
		err = x.c.call(ctx, "POST", "/"+name+"/_search/point_in_time?keep_alive="+keepAlive, nil, &opened)
	}
	if isNotFound(err) {
		return nil, fmt.Errorf("%w at %s: %w", index.ErrNoIndex, x.c.address, err)
	}
	if err != nil {
		return nil, err
	}
	v := &View{c: x.c, id: opened.ID}
	if v.state, err = x.c.state(ctx, v.search); err != nil {
		return nil, errors.Join(err, v.Close())
	}
	return v, nil
}

// search searches the state of the view.
func (v *View) search(ctx context.Context, body object) (*searchAnswer, error) {
	body["pit"] = object{"id": v.id, "keep_alive": keepAlive}
	return v.c.searchAt(ctx, "/_search", body)
}

// Close releases the state.
func (v *View) Close() error {
	ctx, cancel := context.WithTimeout(context.Background(), v.c.retryFor)
	defer cancel()
	// If the server does not answer, the state expires on its own.
	payload, err := json.Marshal(object{"pit_id": []string{v.id}})
	if err == nil {
		_ = v.c.once(ctx, "DELETE", "/_search/point_in_time", payload, nil)
	}
	return err
}

// State counts and sums up the documents.
func (v *View) State() index.State { return v.state }

// pageSize is how many documents one request lists.
const pageSize = 1000

// pages calls fn with all documents, in the order of their clusters, with the ranks and times
// that count.
func (v *View) pages(ctx context.Context, size int, fields []string, source []string, fn func([]*record) (bool, error)) error {
	return v.scan(ctx, size, byCluster, fields, source, func(list []*record) (bool, error) {
		if err := join(ctx, v.search, list); err != nil {
			return false, err
		}
		return fn(list)
	})
}

var byCluster = []object{{"cluster": "asc"}}

// scan calls fn with all documents as they were exported. The order ends with the cluster.
func (v *View) scan(ctx context.Context, size int, order []object, fields []string, source []string, fn func([]*record) (bool, error)) error {
	body := object{"size": size, "query": kept(documents), "sort": order, "track_total_hits": false}
	if source == nil {
		body = reading(fields, body)
	} else {
		body = readingSource(fields, source, body)
	}
	for {
		a, err := v.search(ctx, body)
		if err != nil {
			return err
		}
		hits := a.Hits.Hits
		if len(hits) == 0 {
			return nil
		}
		list := make([]*record, len(hits))
		for i := range hits {
			list[i] = &hits[i].Source
		}
		if more, err := fn(list); err != nil || !more || len(hits) < size {
			return err
		}
		last := &hits[len(hits)-1]
		if len(last.Sort) != len(order) {
			return fmt.Errorf("%w: OpenSearch returned document %s without its place in the order", index.ErrCorrupt, last.Source.Cluster)
		}
		body["search_after"] = last.Sort
	}
}

// Entries lists all documents in the order of their clusters.
func (v *View) Entries(ctx context.Context) iter.Seq2[index.Entry, error] {
	fields := []string{"cluster", "seq", "rank", "fetched", "touch", "digest", "content"}
	return func(yield func(index.Entry, error) bool) {
		err := v.pages(ctx, pageSize, fields, nil, func(list []*record) (bool, error) {
			for _, r := range list {
				e, err := r.entry()
				if err != nil {
					return false, err
				}
				if !yield(e, nil) {
					return false, nil
				}
			}
			return true, nil
		})
		if err != nil {
			yield(index.Entry{}, fmt.Errorf("list the documents on OpenSearch: %w", err))
		}
	}
}

func (r *record) entry() (e index.Entry, err error) {
	if e.Cluster, err = parseCluster(r.Cluster); err != nil {
		return e, err
	}
	a, err := r.readAbout()
	if err != nil {
		return e, err
	}
	e.URL = a.URL
	e.Rank, e.FetchedAt = r.Rank, index.UnpackTime(r.Fetched)
	e.Digest, err = r.digest()
	return e, err
}

// Documents calls fn with all documents, in the order of their clusters.
func (v *View) Documents(ctx context.Context, fn func(index.Document) error) error {
	fields := []string{"cluster", "seq", "rank", "fetched", "touch", "digest", "content"}
	return v.pages(ctx, pageSize/10, fields, []string{"stored"}, func(list []*record) (bool, error) {
		for _, r := range list {
			d, err := r.document()
			if err != nil {
				return false, err
			}
			if err := fn(d); err != nil {
				return false, err
			}
		}
		return true, nil
	})
}

// Check reads every document, and compares their number and the sum of their digests with
// what the server counts. It does not compare the tokens that searches find a document by
// with its text.
func (v *View) Check(ctx context.Context) error {
	var sum index.Sum
	n := 0
	err := v.Documents(ctx, func(d index.Document) error {
		sum.Add(d.Cluster, d.Digest)
		n++
		return nil
	})
	if err != nil {
		return err
	}
	if n != v.state.Documents || sum != v.state.Sum {
		return fmt.Errorf("%w: OpenSearch lists %d documents, but counts %d, or their sums differ", index.ErrCorrupt, n, v.state.Documents)
	}
	return nil
}
