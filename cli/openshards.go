package cli

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"sync"

	"go.uber.org/zap"

	"github.com/webindexer/indexer/index"
	"github.com/webindexer/indexer/index/search"
	"github.com/webindexer/indexer/index/shardrpc"
	"github.com/webindexer/indexer/oracle/remote"
	"github.com/webindexer/indexer/repository"
)

// openShards has the shards of this machine open for searching, by directory. Files that
// were replaced are opened again, and closed after the last session on them.
type openShards struct {
	mu   sync.Mutex
	open map[string]*openShard
}

// openShard is a reader with the number of its users. openShards counts as one.
type openShard struct {
	*index.Reader
	users int
}

// begin begins a session on the files in a directory.
func (o *openShards) begin(ctx context.Context, name, dir string) (search.Session, error) {
	r, err := o.take(dir)
	if err != nil {
		return nil, err
	}
	s, err := index.NewLocalShard(name, r.Reader).Begin(ctx)
	if err != nil {
		return nil, errors.Join(err, o.giveBack(r))
	}
	return &openSession{s, func() error { return o.giveBack(r) }}, nil
}

type openSession struct {
	search.Session
	release func() error
}

// Close implements search.Session.
func (s *openSession) Close() error { return errors.Join(s.Session.Close(), s.release()) }

func (o *openShards) take(dir string) (*openShard, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	r := o.open[dir]
	if r == nil || r.Replaced() {
		now, err := index.OpenReader(dir)
		if err != nil {
			return nil, err
		}
		if r != nil {
			if err := r.leave(); err != nil {
				return nil, errors.Join(err, now.Close())
			}
		}
		r = &openShard{now, 1}
		if o.open == nil {
			o.open = make(map[string]*openShard)
		}
		o.open[dir] = r
	}
	r.users++
	return r, nil
}

func (o *openShards) giveBack(r *openShard) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	return r.leave()
}

func (r *openShard) leave() error {
	if r.users--; r.users > 0 {
		return nil
	}
	return r.Close()
}

func (o *openShards) close() error {
	o.mu.Lock()
	defer o.mu.Unlock()
	var errs []error
	for _, r := range o.open {
		errs = append(errs, r.leave())
	}
	clear(o.open)
	return errors.Join(errs...)
}

// source is a shard in a directory. Its sessions call report with each panic.
func (o *openShards) source(shard shardrpc.Shard, dir string, report func(error)) search.ShardSource {
	return shardDir{o, fmt.Sprintf("%v in %s", shard, dir), dir, report}
}

type shardDir struct {
	files     *openShards
	name, dir string
	report    func(error)
}

// Name implements search.ShardSource.
func (d shardDir) Name() string { return d.name }

// Begin implements search.ShardSource.
func (d shardDir) Begin(ctx context.Context) (search.Session, error) {
	s, err := d.files.begin(ctx, d.name, d.dir)
	if err != nil {
		return nil, err
	}
	return search.Guard(s, d.report), nil
}

// shardServer answers searches of other processes about the shards that a worker holds.
type shardServer struct {
	server *shardrpc.Server
	files  openShards
	repo   *repository.Repository
	of     int
}

// serveShards answers on a listener.
func (a *app) serveShards(l net.Listener, repo *repository.Repository, security remote.Security) (*shardServer, error) {
	opts, err := security.ServerOptions()
	if err != nil {
		return nil, err
	}
	s := &shardServer{repo: repo, of: a.cfg.IndexShards}
	s.server = shardrpc.Serve(l, s, a.reportPanic, opts...)
	return s, nil
}

// reportPanic logs a panic in a search of a shard.
func (a *app) reportPanic(err error) { a.log.Error("a search of a shard failed", zap.Error(err)) }

// Shards implements shardrpc.Holder.
func (s *shardServer) Shards() (list []shardrpc.Shard) {
	for i := range s.of {
		if s.repo.HoldsShard(i, s.of) {
			list = append(list, shardrpc.Shard{Number: i, Of: s.of})
		}
	}
	return list
}

// Begin implements shardrpc.Holder.
func (s *shardServer) Begin(ctx context.Context, number, of int) (search.Session, error) {
	shard := shardrpc.Shard{Number: number, Of: of}
	if !s.repo.HoldsShard(number, of) {
		return nil, fmt.Errorf("this worker does not keep %v, or is still preparing it", shard)
	}
	return s.files.begin(ctx, shard.String(), s.repo.ShardDir(number, of))
}

func (s *shardServer) stop() error { return errors.Join(s.server.Stop(), s.files.close()) }

// reachable is the address at which other machines reach a listener.
func reachable(l net.Addr, given string) (string, error) {
	host, _, err := net.SplitHostPort(given)
	if err != nil {
		return "", err
	}
	_, port, err := net.SplitHostPort(l.String())
	if err != nil {
		return "", err
	}
	if ip := net.ParseIP(host); host == "" || ip != nil && ip.IsUnspecified() {
		if host, err = os.Hostname(); err != nil {
			return "", fmt.Errorf("find the name of this machine: %w", err)
		}
	}
	return net.JoinHostPort(host, port), nil
}
