package cli

import (
	"context"
	"errors"
	"fmt"

	"github.com/webindexer/indexer/index/opensearch"
	"github.com/webindexer/indexer/index/search"
	"github.com/webindexer/indexer/repository"
)

// indexServer reads the settings of an index on a search server.
func (a *app) indexServer() (at opensearch.Address, o opensearch.Options, err error) {
	if at, err = opensearch.ParseAddress(a.cfg.Index); err != nil {
		return at, o, &usageError{reason: "setting index: " + err.Error(), help: "indexer"}
	}
	o.CAFile = a.cfg.OpenSearch.CA
	if o.Credentials, err = opensearch.ReadCredentials(a.cfg.OpenSearch.Credentials); err != nil {
		return at, o, &usageError{reason: "setting opensearch.credentials: " + err.Error(), help: "indexer"}
	}
	return at, o, nil
}

// authoritiesError names the setting that keeps this process from connecting: it reads the file
// with certificates, and only the first request goes to the server.
func authoritiesError(err error) error {
	return &usageError{reason: "setting opensearch.ca: " + err.Error(), help: "indexer"}
}

// serverIndex connects to the index on a search server, to write to it.
func (a *app) serverIndex() (repository.Index, func() error, error) {
	at, o, err := a.indexServer()
	if err != nil {
		return nil, nil, err
	}
	x, err := opensearch.Open(at, o)
	if err != nil {
		return nil, nil, authoritiesError(err)
	}
	return onServer{x}, x.Close, nil
}

// onServer is an index on a search server as a repository knows it.
type onServer struct{ *opensearch.Index }

// Inspect implements repository.Index.
func (x onServer) Inspect(ctx context.Context) (repository.IndexStatus, error) {
	s, err := x.Index.Inspect(ctx)
	return repository.IndexStatus(s), err
}

// Snapshot implements repository.Index.
func (x onServer) Snapshot(ctx context.Context) (repository.IndexView, error) {
	v, err := x.Index.Snapshot(ctx)
	if err != nil {
		return nil, err
	}
	return v, nil
}

// Next implements repository.Index.
func (x onServer) Next(ctx context.Context, id string) (repository.NextIndex, error) {
	n, err := x.Begin(ctx, id)
	if err != nil {
		return nil, err
	}
	return n, nil
}

// searchServer opens the index on a search server for queries. It makes everything
// that was written before searchable, and returns an error if there is no index, or if it is that of
// another store.
func (a *app) searchServer(ctx context.Context) (searcher, error) {
	at, o, err := a.indexServer()
	if err != nil {
		return nil, err
	}
	shard, err := opensearch.OpenShard(at, o)
	if err != nil {
		return nil, authoritiesError(err)
	}
	have, err := shard.Prepare(ctx)
	if err == nil {
		err = a.checkOwner(ctx, at, have.ID)
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("search in %s: %w", at, err), shard.Close())
	}
	return &searchedServer{search.NewShards([]search.ShardSource{shard}), shard, have.Rebuild != ""}, nil
}

// searchedServer is an index on a search server as a searcher.
type searchedServer struct {
	*search.Shards
	shard *opensearch.Shard
	stale bool
}

// NeedsRebuild reports whether another version of this program analysed the documents.
func (s *searchedServer) NeedsRebuild() bool { return s.stale }

// Close implements searcher.
func (s *searchedServer) Close() error { return s.shard.Close() }
