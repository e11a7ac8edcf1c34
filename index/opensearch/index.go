package opensearch

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"

	"golang.org/x/sync/errgroup"

	"github.com/webindexer/indexer/index"
	"github.com/webindexer/indexer/index/analysis"
)

// Index writes to the server. It is safe for concurrent use, except that there can be only
// one Next at a time.
type Index struct {
	c *client

	mu      sync.Mutex
	current target // what Inspect or Install has found or made
}

// target is one of the indices behind the alias, over time.
type target struct {
	c    *client
	name string // NAME-000001
}

func (t target) writeAlias() string { return t.name + ".write" }

// Open connects to an index, which need not exist yet.
func Open(a Address, o Options) (*Index, error) {
	c, err := newClient(a, o)
	return &Index{c: c}, err
}

// Close makes everything searchable that was written, if the server answers, and gives back
// connections.
func (x *Index) Close() error {
	if t := x.target(); t.name != "" {
		ctx, cancel := context.WithTimeout(context.Background(), x.c.retryFor)
		defer cancel()
		_ = x.c.once(ctx, "POST", "/"+t.name+"/_refresh", nil, nil) // otherwise it becomes searchable a second later
	}
	x.c.close()
	return nil
}

func (x *Index) target() target {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.current
}

func (x *Index) use(t target) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.current = t
}

// ErrNotOurs means that something else on the server has the name of the index.
var ErrNotOurs = errors.New("indexer did not make the index of that name on OpenSearch")

// Status says which index is on the server.
type Status struct {
	ID      string // "" if there is no index
	Rebuild string // why the index has to be rebuilt; "" if it need not be
	State   index.State
}

// Inspect finds out what is on the server, and which index to write to.
func (x *Index) Inspect(ctx context.Context) (s Status, err error) {
	name, m, err := x.inUse(ctx)
	if err != nil || name == "" {
		return s, err
	}
	switch {
	case m.ID == "" || name == x.c.address.name:
		return s, fmt.Errorf("%w: %s; choose another name", ErrNotOurs, x.c.address)
	case m.Format > format || m.Analysis > analysis.Version:
		return s, fmt.Errorf("%w: %s", index.ErrNewerFormat, x.c.address)
	case m.Format < format:
		s.Rebuild = "the index on OpenSearch has an older format"
	case m.Analysis < analysis.Version:
		s.Rebuild = "the index on OpenSearch was made by another version of this program, which reads texts in another way"
	}
	s.ID = m.ID
	if err := x.c.refresh(ctx, name); err != nil {
		return s, err
	}
	if s.State, err = x.c.state(ctx, x.c.search); err != nil {
		return s, err
	}
	x.use(target{x.c, name})
	return s, nil
}

// inUse finds the index behind the alias, or "" if there is none.
func (x *Index) inUse(ctx context.Context) (name string, m meta, err error) {
	found, err := x.list(ctx, x.c.address.name)
	if isNotFound(err) {
		return "", m, nil
	}
	if err != nil {
		return "", m, err
	}
	if len(found) > 1 {
		return "", m, fmt.Errorf("%w: %s names %d indices; choose another name", ErrNotOurs, x.c.address, len(found))
	}
	for name, m := range found {
		return name, m, nil
	}
	return "", m, nil
}

// list reads what identifies indices.
func (x *Index) list(ctx context.Context, pattern string) (map[string]meta, error) {
	var answer map[string]struct {
		Mappings struct {
			Meta meta `json:"_meta"`
		}
	}
	if err := x.c.call(ctx, "GET", "/"+pattern+"/_mapping", nil, &answer); err != nil {
		return nil, err
	}
	found := make(map[string]meta, len(answer))
	for name, a := range answer {
		found[name] = a.Mappings.Meta
	}
	return found, nil
}

// Apply implements observers.Sink.
func (x *Index) Apply(ctx context.Context, changes []index.Change) error {
	return x.target().Apply(ctx, changes)
}

// SetRanks implements observers.Sink.
func (x *Index) SetRanks(ctx context.Context, ranks []index.RankUpdate) error {
	return x.target().SetRanks(ctx, ranks)
}

// Touch implements observers.Sink.
func (x *Index) Touch(ctx context.Context, touches []index.Touch) ([]index.Touch, error) {
	return x.target().Touch(ctx, touches)
}

// Apply analyses and writes documents. It returns when the server has them on its disk.
func (t target) Apply(ctx context.Context, changes []index.Change) error {
	writes := make([]write, len(changes))
	g, inner := errgroup.WithContext(ctx)
	g.SetLimit(runtime.GOMAXPROCS(0))
	for i := range changes {
		g.Go(func() error {
			r, err := recordOf(&changes[i])
			if err == nil {
				writes[i], err = newWrite(r.Cluster, int64(r.Seq), &r)
			}
			return cmp.Or(inner.Err(), err)
		})
	}
	if err := g.Wait(); err != nil {
		return fmt.Errorf("prepare documents for OpenSearch: %w", err)
	}
	return t.put(ctx, writes)
}

// SetRanks writes ranks. Each counts for documents with a lower Seq.
func (t target) SetRanks(ctx context.Context, ranks []index.RankUpdate) error {
	writes := make([]write, len(ranks))
	for i, u := range ranks {
		r := record{Kind: kindRank, Cluster: documentID(u.Cluster), Seq: u.Seq, Rank: u.Rank}
		var err error
		if writes[i], err = newWrite(rankID(r.Cluster), int64(r.Seq), &r); err != nil {
			return err
		}
	}
	return t.put(ctx, writes)
}

// Touch writes fetch times of documents that are there under the same URL. A time before
// 1970 or an unknown one renews nothing.
func (t target) Touch(ctx context.Context, touches []index.Touch) (missing []index.Touch, err error) {
	for batch := range slices.Chunk(touches, bulkRecords) {
		some, err := t.touch(ctx, batch)
		if err != nil {
			return nil, err
		}
		missing = append(missing, some...)
	}
	return missing, nil
}

func (t target) touch(ctx context.Context, touches []index.Touch) (missing []index.Touch, err error) {
	have, err := t.touchKeys(ctx, touches)
	if err != nil {
		return nil, err
	}
	var writes []write
	for _, u := range touches {
		r := record{Kind: kindTime, Cluster: documentID(u.Cluster), Touch: touchKey(u.Cluster, u.URL), Fetched: index.PackTime(u.FetchedAt)}
		if !have[r.Touch] {
			missing = append(missing, u)
			continue
		}
		if r.Fetched <= 0 {
			continue
		}
		w, err := newWrite(timeID(r.Touch), r.Fetched, &r)
		if err != nil {
			return nil, err
		}
		writes = append(writes, w)
	}
	return missing, t.put(ctx, writes)
}

// touchKeys finds the documents of clusters, whether or not they are already searchable.
func (t target) touchKeys(ctx context.Context, touches []index.Touch) (map[string]bool, error) {
	ids := make([]string, len(touches))
	for i, u := range touches {
		ids[i] = documentID(u.Cluster)
	}
	var answer struct {
		Docs []struct {
			Source record `json:"_source"`
			Error  struct{ Type, Reason string }
		}
	}
	payload, err := json.Marshal(object{"ids": ids})
	if err != nil {
		return nil, fmt.Errorf("encode a request for OpenSearch: %w", err)
	}
	err = t.c.retry(ctx, func() error {
		answer.Docs = nil
		if err := t.c.once(ctx, "POST", "/"+t.writeAlias()+"/_mget?_source_includes=touch", payload, &answer); err != nil {
			return err
		}
		for _, d := range answer.Docs {
			// While a server starts, it answers, but does not know yet what it has.
			if d.Error.Type != "" {
				return &statusError{status: http.StatusServiceUnavailable, kind: d.Error.Type, reason: d.Error.Reason}
			}
		}
		return nil
	})
	if err != nil {
		return nil, asUnusable(err)
	}
	have := make(map[string]bool, len(answer.Docs))
	for _, d := range answer.Docs {
		have[d.Source.Touch] = true
	}
	delete(have, "")
	return have, nil
}

func (t target) put(ctx context.Context, writes []write) error {
	if t.name == "" {
		return fmt.Errorf("%w: it was not opened", index.ErrUnusable)
	}
	if err := t.c.put(ctx, t.writeAlias(), writes); err != nil {
		return fmt.Errorf("write to OpenSearch: %w", err)
	}
	return nil
}

// Next is an index that is being built while another is in use.
type Next struct {
	target
	x   *Index
	old string // "" if there is none
}

// Begin makes an empty index with this ID; the current one stays in use. It removes what an
// unfinished rebuild left.
func (x *Index) Begin(ctx context.Context, id string) (*Next, error) {
	old, m, err := x.inUse(ctx)
	if err != nil {
		return nil, err
	}
	if old == x.c.address.name || old != "" && m.ID == "" {
		return nil, fmt.Errorf("%w: %s; choose another name", ErrNotOurs, x.c.address)
	}
	others, err := x.list(ctx, x.c.address.name+"-*")
	if err != nil && !isNotFound(err) {
		return nil, err
	}
	highest := 0
	for name, m := range others {
		n := x.number(name)
		highest = max(highest, n)
		if n > 0 && name != old && m.ID == id {
			if err := x.remove(ctx, name); err != nil {
				return nil, err
			}
		}
	}
	n := &Next{target: target{x.c, fmt.Sprintf("%s-%06d", x.c.address.name, highest+1)}, x: x}
	if old != "" && m.ID == id {
		n.old = old
	}
	body := x.c.address.mapping(id)
	body["aliases"] = object{n.writeAlias(): object{}}
	if err := x.c.call(ctx, "PUT", "/"+n.name, body, nil); err != nil && !alreadyThere(err) {
		return nil, err
	}
	return n, nil
}

// alreadyThere reports whether err is the answer to a repeated request to make an index,
// after the first answer was lost.
func alreadyThere(err error) bool {
	return err != nil && strings.Contains(err.Error(), "resource_already_exists_exception")
}

var numbered = regexp.MustCompile(`-(\d{6})$`)

// number returns the number in the name of an index, or 0 for other names.
func (x *Index) number(name string) int {
	m := numbered.FindStringSubmatch(name)
	if m == nil || name != x.c.address.name+m[0] {
		return 0
	}
	n, err := strconv.Atoi(m[1])
	if err != nil {
		return 0
	}
	return n
}

// Remove removes the index that Inspect has found or a rebuild has made, and its aliases.
func (x *Index) Remove(ctx context.Context) error {
	if t := x.target(); t.name != "" {
		return x.remove(ctx, t.name)
	}
	return nil
}

func (x *Index) remove(ctx context.Context, name string) error {
	if err := x.c.call(ctx, "DELETE", "/"+name, nil, nil); err != nil && !isNotFound(err) {
		return fmt.Errorf("remove the index %s from OpenSearch: %w", name, err)
	}
	return nil
}

// Install moves the alias to the new index, in one step, and removes the old one. If the
// alias names the index of another repository, that index stays on the server under its own
// name.
func (n *Next) Install(ctx context.Context) error {
	if err := n.c.refresh(ctx, n.name); err != nil {
		return err
	}
	alias := n.c.address.name
	actions := []object{{"remove": object{"index": alias + "-*", "alias": alias, "must_exist": false}}, {"add": object{"index": n.name, "alias": alias}}}
	if err := n.c.call(ctx, "POST", "/_aliases", object{"actions": actions}, nil); err != nil {
		return fmt.Errorf("move the alias on OpenSearch: %w", err)
	}
	n.x.use(n.target)
	if n.old != "" {
		_ = n.x.remove(ctx, n.old) // the next rebuild tries again
	}
	return nil
}

// Discard removes the new index.
func (n *Next) Discard(ctx context.Context) error { return n.x.remove(ctx, n.name) }
