package index

import (
	"context"

	"github.com/webindexer/indexer/index/search"
)

// LocalShard is a shard whose files this process reads.
type LocalShard struct {
	name   string
	reader *Reader
}

// NewLocalShard gives a shard a name. The caller closes the reader.
func NewLocalShard(name string, r *Reader) LocalShard { return LocalShard{name, r} }

// Name implements search.ShardSource.
func (s LocalShard) Name() string { return s.name }

// Begin implements search.ShardSource.
func (s LocalShard) Begin(ctx context.Context) (search.Session, error) {
	v, err := s.reader.Snapshot(ctx)
	if err != nil {
		return nil, err
	}
	return &ownView{viewShard{v: v}}, nil
}

// ownView is a session that owns its view.
type ownView struct{ viewShard }

// Ask implements search.Session.
func (s *ownView) Ask(ctx context.Context, q *search.Question) (*search.Answer, error) {
	a, err := s.viewShard.Ask(ctx, q)
	return a, s.v.explain("search", err)
}

// Close implements search.Session.
func (s *ownView) Close() error { return s.v.Close() }
