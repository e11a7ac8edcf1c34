package cli

import (
	"context"
	"errors"
	"maps"
	"slices"
	"sync"
	"time"

	"go.uber.org/zap"

	"github.com/webindexer/indexer/index/search"
	"github.com/webindexer/indexer/index/shardrpc"
	"github.com/webindexer/indexer/oracle/remote"
	"github.com/webindexer/indexer/page"
	"github.com/webindexer/indexer/repository"
	"github.com/webindexer/indexer/store"
)

// shardSearch searches shards: those that --shard names, those of a deployment, whose
// holders are in the table, or those in the data directory.
type shardSearch struct {
	app     *app
	files   openShards
	table   store.Table // nil unless the table tells where the shards are
	options remote.Security

	mu      sync.Mutex
	clients map[string]*shardrpc.Client
	current *search.Shards
	places  *shardPlaces // where the shards of current are
	until   time.Time    // when to look again where the shards are
}

// lookAgain is how long a server uses what it knows about the places of shards.
const lookAgain = 2 * time.Second

// findWithin bounds how long a search waits for the store to say where the shards are now.
const findWithin = time.Second

func (a *app) openShardSearch(ctx context.Context) (_ *shardSearch, err error) {
	s := &shardSearch{app: a, clients: make(map[string]*shardrpc.Client)}
	if s.options, err = a.security(); err != nil {
		return nil, err
	}
	for _, given := range a.shards { // a server reports a mistake before it serves
		if err := s.checkPlace(given); err != nil {
			return nil, err
		}
	}
	if len(a.shards) == 0 && a.isShared() {
		if s.table, err = a.openTable(ctx); err != nil {
			return nil, err
		}
		if err := repository.CheckShards(ctx, s.table, a.cfg.IndexShards); err != nil {
			return nil, errors.Join(err, s.table.Close())
		}
	}
	return s, nil
}

// Search implements web.Searcher.
func (s *shardSearch) Search(ctx context.Context, query string, opts search.Options) (*search.Results, error) {
	shards, err := s.shards(ctx)
	if err != nil {
		return nil, err
	}
	res, err := shards.Search(ctx, query, opts)
	if err == nil && len(res.Incomplete) > 0 {
		s.forget()
	}
	return res, err
}

// Count implements web.Searcher.
func (s *shardSearch) Count(ctx context.Context) (int, error) {
	shards, err := s.shards(ctx)
	if err != nil {
		return 0, err
	}
	return shards.Count(ctx)
}

// Filters implements web.Searcher.
func (s *shardSearch) Filters(ctx context.Context) (search.Filters, error) {
	shards, err := s.shards(ctx)
	if err != nil {
		return search.Filters{}, err
	}
	return shards.Filters(ctx)
}

// Complete implements web.Searcher.
func (s *shardSearch) Complete(ctx context.Context, q search.CompletionQuestion) ([]search.Completion, error) {
	shards, err := s.shards(ctx)
	if err != nil {
		return nil, err
	}
	return shards.Complete(ctx, q)
}

// Similar implements web.Searcher.
func (s *shardSearch) Similar(ctx context.Context, u page.URL, opts search.SimilarOptions) (*search.SimilarPages, error) {
	shards, err := s.shards(ctx)
	if err != nil {
		return nil, err
	}
	res, err := shards.Similar(ctx, u, opts)
	if err == nil && len(res.Incomplete) > 0 {
		s.forget()
	}
	return res, err
}

// Ready implements searcher.
func (s *shardSearch) Ready(ctx context.Context) error {
	shards, err := s.shards(ctx)
	if err != nil {
		return err
	}
	return shards.Ready(ctx)
}

// Close implements searcher.
func (s *shardSearch) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	var errs []error
	for _, c := range s.clients {
		errs = append(errs, c.Close())
	}
	errs = append(errs, s.files.close())
	if s.table != nil {
		errs = append(errs, s.table.Close())
	}
	return errors.Join(errs...)
}

// forget makes the next search look where the shards are.
func (s *shardSearch) forget() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.until = time.Time{}
}

// shards looks where the shards are, from time to time.
func (s *shardSearch) shards(ctx context.Context) (*search.Shards, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.current != nil && time.Now().Before(s.until) {
		return s.current, nil
	}
	places, err := s.findSoon(ctx)
	if err != nil {
		return nil, err
	}
	if s.current == nil || !places.equal(s.places) {
		sources, err := s.sources(places)
		if err != nil {
			return nil, err
		}
		s.current, s.places = search.NewShards(sources, places.missing...), places
	}
	s.until = time.Now().Add(lookAgain)
	return s.current, nil
}

// findSoon is find, but if the store does not answer within findWithin, it returns where the
// shards were: searches go on in the same places while the store is away.
func (s *shardSearch) findSoon(ctx context.Context) (*shardPlaces, error) {
	if s.current == nil || s.table == nil {
		return s.find(ctx)
	}
	bounded, cancel := context.WithTimeout(ctx, findWithin)
	defer cancel()
	places, err := s.find(bounded)
	if err != nil && ctx.Err() == nil {
		s.app.log.Warn("searches where the shards were, because the store does not say where they are", zap.Error(err))
		return s.places, nil
	}
	return places, err
}

// sources returns the shards in the order of their numbers, ready to be searched.
func (s *shardSearch) sources(places *shardPlaces) (list []search.ShardSource, err error) {
	for _, shard := range slices.SortedFunc(maps.Keys(places.at), func(a, b shardrpc.Shard) int { return a.Number - b.Number }) {
		source, err := s.source(shard, places.at[shard])
		if err != nil {
			return nil, err
		}
		list = append(list, source)
	}
	return list, nil
}

func (s *shardSearch) source(shard shardrpc.Shard, at shardPlace) (search.ShardSource, error) {
	if at.dir != "" {
		return s.files.source(shard, at.dir, s.app.reportPanic), nil
	}
	c, err := s.client(at.address)
	if err != nil {
		return nil, err
	}
	return c.Shard(shard.Number, shard.Of), nil
}

func (s *shardSearch) client(address string) (*shardrpc.Client, error) {
	if c := s.clients[address]; c != nil {
		return c, nil
	}
	if err := s.options.Check(address); err != nil {
		return nil, err
	}
	dial, err := s.options.DialOptions()
	if err != nil {
		return nil, err
	}
	c, err := shardrpc.Dial(address, dial...)
	if err == nil {
		s.clients[address] = c
	}
	return c, err
}
