package cli

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"
	"go.uber.org/zap"

	"github.com/webindexer/indexer/index"
	"github.com/webindexer/indexer/index/shardrpc"
	"github.com/webindexer/indexer/lease"
	"github.com/webindexer/indexer/observers"
	"github.com/webindexer/indexer/oracle/remote"
	"github.com/webindexer/indexer/page"
	"github.com/webindexer/indexer/repository"
	"github.com/webindexer/indexer/store"
)

// shardFlags adds the flags of commands that search shards.
func (a *app) shardFlags(cmd *cobra.Command) {
	cmd.Flags().StringArrayVar(&a.shards, "shard", nil, "search these shards: a `place`, which is a directory or the HOST:PORT of a worker --serve; may be repeated")
	a.indexShardsFlag(cmd)
}

func (a *app) indexShardsFlag(cmd *cobra.Command) {
	cmd.Flags().String("index-shards", fmt.Sprint(a.cfg.IndexShards), "`number` of shards of the index files of a shared store")
}

// errNoShards says that there is no shard to search, errBothDivisions that index files are there
// twice, one of them old.
var (
	errNoShards      = errors.New("no shard of the index files was found")
	errBothDivisions = errors.New("one directory has undivided index files (shard-000…sqlite) and shards (NUMBER-of-NUMBER), and either may be old")
)

// usesShards reports whether the index is several index files.
func (a *app) usesShards() bool {
	if len(a.shards) > 0 || a.isShared() && a.cfg.IndexShards > 1 {
		return true
	}
	dir := repository.IndexDir(a.cfg.Data)
	return !index.Exists(dir) && len(shardDirs(dir)) > 0
}

// checkUndivided refuses undivided index files next to shards: one kind is old. A shared store
// tells whether it is the shards.
func (a *app) checkUndivided(ctx context.Context) error {
	dir := repository.IndexDir(a.cfg.Data)
	switch {
	case len(shardDirs(dir)) == 0 || !index.Exists(dir):
		return nil
	case !a.isShared():
		return fmt.Errorf("%w: %s", errBothDivisions, dir)
	}
	table, err := a.openTable(ctx)
	if err != nil {
		return err
	}
	return errors.Join(repository.CheckShards(ctx, table, 1), table.Close())
}

// shardPlace is where a shard is: in a directory of this machine, or at an address.
type shardPlace struct{ dir, address string }

// shardSearch searches shards: those that --shard names, those of a deployment, whose
// holders are in the table, or those in the data directory.
type shardSearch struct {
	app     *app
	files   openShards
	table   store.Table // nil unless the table tells where the shards are
	options remote.Security

	mu      sync.Mutex
	clients map[string]*shardrpc.Client
	current *index.Shards
	known   string    // what current was made of
	until   time.Time // when to look again where the shards are
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
func (s *shardSearch) Search(ctx context.Context, query string, opts index.Options) (*index.Results, error) {
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
func (s *shardSearch) Filters(ctx context.Context) (index.Filters, error) {
	shards, err := s.shards(ctx)
	if err != nil {
		return index.Filters{}, err
	}
	return shards.Filters(ctx)
}

// Complete implements web.Searcher.
func (s *shardSearch) Complete(ctx context.Context, q index.CompletionQuestion) ([]index.Completion, error) {
	shards, err := s.shards(ctx)
	if err != nil {
		return nil, err
	}
	return shards.Complete(ctx, q)
}

// Similar implements web.Searcher.
func (s *shardSearch) Similar(ctx context.Context, u page.URL, opts index.SimilarOptions) (*index.SimilarPages, error) {
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
func (s *shardSearch) shards(ctx context.Context) (*index.Shards, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.current != nil && time.Now().Before(s.until) {
		return s.current, nil
	}
	at, missing, err := s.findSoon(ctx)
	if err != nil {
		return nil, err
	}
	if at == nil {
		return s.current, nil
	}
	known := fmt.Sprint(at, missing)
	if s.current == nil || known != s.known {
		var sources []index.ShardSource
		for _, shard := range slices.SortedFunc(maps.Keys(at), func(a, b shardrpc.Shard) int { return a.Number - b.Number }) {
			source, err := s.source(shard, at[shard])
			if err != nil {
				return nil, err
			}
			sources = append(sources, source)
		}
		s.current, s.known = index.NewShards(sources, missing...), known
	}
	s.until = time.Now().Add(lookAgain)
	return s.current, nil
}

// findSoon is find, or nil after findWithin if it is known where the shards were: while the
// store is away, searches go on in the places of before.
func (s *shardSearch) findSoon(ctx context.Context) (at map[shardrpc.Shard]shardPlace, missing []string, err error) {
	if s.current == nil || s.table == nil {
		return s.find(ctx)
	}
	bounded, cancel := context.WithTimeout(ctx, findWithin)
	defer cancel()
	at, missing, err = s.find(bounded)
	if err != nil && ctx.Err() == nil {
		s.app.log.Warn("searches where the shards were, because the store does not say where they are", zap.Error(err))
		s.until = time.Now().Add(lookAgain)
		return nil, nil, nil
	}
	return at, missing, err
}

func (s *shardSearch) source(shard shardrpc.Shard, at shardPlace) (index.ShardSource, error) {
	if at.dir != "" {
		return s.files.source(shard, at.dir), nil
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

// find says where each shard is, and names those that are nowhere.
func (s *shardSearch) find(ctx context.Context) (at map[shardrpc.Shard]shardPlace, missing []string, err error) {
	switch {
	case len(s.app.shards) > 0:
		at, missing, err = s.findGiven(ctx)
	case s.table != nil:
		return s.findHolders(ctx)
	default:
		at = shardDirs(repository.IndexDir(s.app.cfg.Data))
	}
	if err != nil {
		return nil, nil, err
	}
	if len(at) == 0 {
		return nil, nil, fmt.Errorf("%w: %s", errNoShards, strings.Join(missing, "; "))
	}
	of := 0
	for shard := range at {
		if of != 0 && shard.Of != of {
			return nil, nil, fmt.Errorf("shards of different indexes: some are of %d, others of %d; remove the directories of one division", of, shard.Of)
		}
		of = shard.Of
	}
	for i := range of {
		if _, ok := at[shardrpc.Shard{Number: i, Of: of}]; !ok {
			missing = append(missing, fmt.Sprintf("shard %d of %d is in none of the places that were searched", i, of))
		}
	}
	return at, missing, nil
}

// findGiven is find for --shard.
func (s *shardSearch) findGiven(ctx context.Context) (at map[shardrpc.Shard]shardPlace, missing []string, err error) {
	at = make(map[shardrpc.Shard]shardPlace)
	add := func(shard shardrpc.Shard, place shardPlace) error {
		if before, twice := at[shard]; twice && before != place {
			return &usageError{reason: fmt.Sprintf("--shard: shard %d of %d is in two places, %s and %s", shard.Number, shard.Of, before, place), help: s.app.command}
		}
		at[shard] = place
		return nil
	}
	for _, given := range s.app.shards {
		if _, err := os.Stat(given); err == nil {
			found := shardDirs(given)
			if len(found) == 0 {
				found = shardDirs(repository.IndexDir(given))
			}
			if len(found) == 0 {
				if number, of, ok := repository.ParseShardName(filepath.Base(given)); ok {
					found = map[shardrpc.Shard]shardPlace{{Number: number, Of: of}: {dir: given}}
				}
			}
			if len(found) == 0 {
				return nil, nil, &usageError{reason: fmt.Sprintf("--shard: there is no shard in %s; want a data directory with shards, or one of its directories index/NUMBER-of-NUMBER", given), help: s.app.command}
			}
			for shard, place := range found {
				if err := add(shard, place); err != nil {
					return nil, nil, err
				}
			}
			continue
		}
		if _, _, err := net.SplitHostPort(given); err != nil {
			return nil, nil, &usageError{reason: fmt.Sprintf("--shard: %q is neither a directory nor HOST:PORT", given), help: s.app.command}
		}
		c, err := s.client(given)
		if err != nil {
			return nil, nil, err
		}
		list, err := c.Shards(ctx)
		if err != nil {
			missing = append(missing, fmt.Sprintf("the shards at %s: %v", given, err))
			continue
		}
		for _, shard := range list {
			if err := add(shard, shardPlace{address: given}); err != nil {
				return nil, nil, err
			}
		}
	}
	return at, missing, nil
}

// findHolders is find for a deployment: the table says who holds each shard. Files of a
// holder on this machine are read directly.
func (s *shardSearch) findHolders(ctx context.Context) (at map[shardrpc.Shard]shardPlace, missing []string, err error) {
	held, err := lease.List(ctx, s.table)
	if err != nil {
		return nil, nil, err
	}
	host, err := os.Hostname()
	if err != nil {
		return nil, nil, fmt.Errorf("find the name of this machine: %w", err)
	}
	of := s.app.cfg.IndexShards
	at = make(map[shardrpc.Shard]shardPlace)
	for i := range of {
		h, ok := held[observers.LeaseShard(i)]
		dir := repository.ShardDir(h.Place.Data, i, of)
		switch {
		case !ok:
			missing = append(missing, fmt.Sprintf("shard %d of %d: no worker keeps it at the moment", i, of))
		case h.Place.Search != "":
			at[shardrpc.Shard{Number: i, Of: of}] = shardPlace{address: h.Place.Search}
		case h.Place.Host == host && index.Exists(dir):
			at[shardrpc.Shard{Number: i, Of: of}] = shardPlace{dir: dir}
		default:
			missing = append(missing, fmt.Sprintf("shard %d of %d: %s keeps it and answers no searches; start that worker with --serve", i, of, h.Place))
		}
	}
	return at, missing, nil
}

// String is the directory or the address.
func (p shardPlace) String() string { return p.dir + p.address }

// shardDirs lists the shards whose directories are in a directory.
func shardDirs(dir string) map[shardrpc.Shard]shardPlace {
	found := make(map[shardrpc.Shard]shardPlace)
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) || err != nil { // opening it returns the error
		return found
	}
	for _, e := range entries {
		path := filepath.Join(dir, e.Name())
		if number, of, ok := repository.ParseShardName(e.Name()); ok && index.Exists(path) {
			found[shardrpc.Shard{Number: number, Of: of}] = shardPlace{dir: path}
		}
	}
	return found
}
