package cli

import (
	"context"
	"fmt"
	"maps"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/webindexer/indexer/index"
	"github.com/webindexer/indexer/index/shardrpc"
	"github.com/webindexer/indexer/lease"
	"github.com/webindexer/indexer/observers"
	"github.com/webindexer/indexer/repository"
)

// shardPlace is where a shard is: in a directory of this machine, or at an address.
type shardPlace struct{ dir, address string }

// String returns the directory or the address.
func (p shardPlace) String() string { return p.dir + p.address }

// shardPlaces says where the shards of an index are.
type shardPlaces struct {
	at      map[shardrpc.Shard]shardPlace
	missing []string // why the other shards cannot be searched
}

func (p *shardPlaces) equal(q *shardPlaces) bool {
	return maps.Equal(p.at, q.at) && slices.Equal(p.missing, q.missing)
}

// find finds the shards that --shard names, those of a deployment, or those in the data
// directory.
func (s *shardSearch) find(ctx context.Context) (p *shardPlaces, err error) {
	switch {
	case len(s.app.shards) > 0:
		p, err = s.findGiven(ctx)
	case s.table != nil:
		return s.findHolders(ctx)
	default:
		p = &shardPlaces{at: shardDirs(repository.IndexDir(s.app.cfg.Data))}
	}
	if err != nil {
		return nil, err
	}
	if len(p.at) == 0 {
		return nil, fmt.Errorf("%w: %s", errNoShards, strings.Join(p.missing, "; "))
	}
	of := 0
	for shard := range p.at {
		if of != 0 && shard.Of != of {
			return nil, fmt.Errorf("shards of different indexes: some are of %d, others of %d; remove the directories of one division", of, shard.Of)
		}
		of = shard.Of
	}
	for i := range of {
		shard := shardrpc.Shard{Number: i, Of: of}
		if _, ok := p.at[shard]; !ok {
			p.missing = append(p.missing, fmt.Sprintf("%v is in none of the places that were searched", shard))
		}
	}
	return p, nil
}

// findGiven finds the shards in all the places that --shard names.
func (s *shardSearch) findGiven(ctx context.Context) (*shardPlaces, error) {
	places, err := s.askGiven(ctx)
	if err != nil {
		return nil, err
	}
	all := &shardPlaces{at: make(map[shardrpc.Shard]shardPlace)}
	for _, p := range places {
		for shard, place := range p.at {
			if before, twice := all.at[shard]; twice && before != place {
				return nil, s.shardFlagError("%v is in two places, %s and %s; name only the one that a worker keeps, which `indexer status` shows", shard, before, place)
			}
			all.at[shard] = place
		}
		all.missing = append(all.missing, p.missing...)
	}
	return all, nil
}

// askGiven finds the shards in each place that --shard names. It asks all workers at the same time,
// so that those that do not answer cost a search no more than one does.
func (s *shardSearch) askGiven(ctx context.Context) ([]*shardPlaces, error) {
	places := make([]*shardPlaces, len(s.app.shards))
	var asked sync.WaitGroup
	defer asked.Wait()
	for i, given := range s.app.shards {
		if _, err := os.Stat(given); err == nil {
			if places[i] = (&shardPlaces{at: shardsUnder(given)}); len(places[i].at) == 0 {
				return nil, s.shardFlagError("there is no shard in %s; want a data directory with shards, or one of its directories index/NUMBER-of-NUMBER", given)
			}
			continue
		}
		if err := s.checkPlace(given); err != nil {
			return nil, err
		}
		c, err := s.client(given)
		if err != nil {
			return nil, err
		}
		asked.Go(func() { places[i] = shardsAt(ctx, c, given) })
	}
	return places, nil
}

// shardsAt asks a worker for its shards. A worker that does not answer is not an error: the other
// shards can be searched.
func shardsAt(ctx context.Context, c *shardrpc.Client, address string) *shardPlaces {
	list, err := c.Shards(ctx)
	if err != nil {
		return &shardPlaces{missing: []string{fmt.Sprintf("the shards at %s: %v", address, err)}}
	}
	at := make(map[shardrpc.Shard]shardPlace)
	for _, shard := range list {
		at[shard] = shardPlace{address: address}
	}
	return &shardPlaces{at: at}
}

// checkPlace refuses what is not there and cannot be an address.
func (s *shardSearch) checkPlace(given string) error {
	if _, err := os.Stat(given); err == nil {
		return nil
	}
	if _, _, err := net.SplitHostPort(given); err != nil {
		return s.shardFlagError("%q is neither a directory nor HOST:PORT", given)
	}
	return nil
}

func (s *shardSearch) shardFlagError(format string, args ...any) error {
	command, _, _ := strings.Cut(s.app.command, " --") // of serve --crawl
	return &usageError{reason: "--shard: " + fmt.Sprintf(format, args...), help: command}
}

// findHolders finds the shards of a deployment: the table says which worker holds each. It
// prefers the address of the worker to its files, if these are on this machine.
func (s *shardSearch) findHolders(ctx context.Context) (*shardPlaces, error) {
	held, err := lease.List(ctx, s.table)
	if err != nil {
		return nil, err
	}
	host, err := os.Hostname()
	if err != nil {
		return nil, fmt.Errorf("find the name of this machine: %w", err)
	}
	of := s.app.cfg.IndexShards
	p := &shardPlaces{at: make(map[shardrpc.Shard]shardPlace)}
	for i := range of {
		shard := shardrpc.Shard{Number: i, Of: of}
		h, ok := held[observers.LeaseShard(i)]
		dir := repository.ShardDir(h.Place.Data, i, of)
		switch {
		case !ok:
			p.missing = append(p.missing, fmt.Sprintf("%v: no worker keeps it at the moment", shard))
		case h.Place.Search != "":
			p.at[shard] = shardPlace{address: h.Place.Search}
		case h.Place.Host == host && index.Exists(dir):
			p.at[shard] = shardPlace{dir: dir}
		default:
			p.missing = append(p.missing, fmt.Sprintf("%v: %s keeps it but does not answer searches; start that worker with --serve", shard, h.Place))
		}
	}
	return p, nil
}

// shardsUnder lists the shards of a data directory, or of a directory of index files, or the
// shard that the directory itself is.
func shardsUnder(dir string) map[shardrpc.Shard]shardPlace {
	for _, parent := range []string{dir, repository.IndexDir(dir)} {
		if found := shardDirs(parent); len(found) > 0 {
			return found
		}
	}
	if number, of, ok := repository.ParseShardName(filepath.Base(dir)); ok {
		return map[shardrpc.Shard]shardPlace{{Number: number, Of: of}: {dir: dir}}
	}
	return nil
}

// shardDirs lists the shards whose directories are in a directory; none if it cannot be read,
// because opening the index returns the error.
func shardDirs(dir string) map[shardrpc.Shard]shardPlace {
	found := make(map[shardrpc.Shard]shardPlace)
	entries, err := os.ReadDir(dir)
	if err != nil {
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
