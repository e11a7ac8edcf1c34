package cli

import (
	"context"
	"errors"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"

	"github.com/webindexer/indexer/index/shardrpc"
	"github.com/webindexer/indexer/repository"
)

// TestShardFlag: --shard names a data directory, its directory of index files, or one shard.
func TestShardFlag(t *testing.T) {
	t.Chdir(t.TempDir())
	for _, dir := range []string{repository.ShardDir("a", 0, 2), repository.ShardDir("b", 1, 2), repository.ShardDir("copy", 1, 2), repository.ShardDir("other", 0, 3)} {
		if err := os.MkdirAll(dir, 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, "shard-000.sqlite"), nil, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Mkdir("empty", 0o777); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		name    string
		given   []string
		missing []string
		err     string
	}{
		{name: "data directories", given: []string{"a", "b"}},
		{name: "index files and one shard", given: []string{"a/index", repository.ShardDir("b", 1, 2)}},
		{name: "the same place twice", given: []string{"a", "b", "a/index"}},
		{name: "a shard is nowhere", given: []string{"b"}, missing: []string{"shard 0 of 2 is in none of the places that were searched"}},
		{name: "two places", given: []string{"a", "b", "copy"}, err: "--shard: shard 1 of 2 is in two places, b/index/1-of-2 and copy/index/1-of-2; name only the one that a worker keeps, which `indexer status` shows"},
		{name: "two indexes", given: []string{"other", "a"}, err: "shards of different indexes"},
		{name: "no shards", given: []string{"empty"}, err: "--shard: there is no shard in empty;"},
		{name: "no place", given: []string{"nowhere"}, err: `--shard: "nowhere" is neither a directory nor HOST:PORT`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := &shardSearch{app: &app{shards: tt.given}}
			p, err := s.find(t.Context())
			if tt.err != "" {
				if err == nil || !strings.HasPrefix(err.Error(), tt.err) {
					t.Errorf("got %v, want %s", err, tt.err)
				}
				return
			}
			if err != nil || len(p.at)+len(p.missing) != 2 || !slices.Equal(p.missing, tt.missing) {
				t.Errorf("got %v, %v, want two shards, of which %q are missing", p, err, tt.missing)
			}
		})
	}
}

// TestPlacesAreCheckedFirst: a server with a mistake in --shard does not begin to serve.
func TestPlacesAreCheckedFirst(t *testing.T) {
	for _, given := range []string{"nowhere", ""} {
		_, err := (&app{shards: []string{t.TempDir(), "127.0.0.1:7072", given}}).openShardSearch(t.Context())
		if _, usage := errors.AsType[*usageError](err); !usage {
			t.Errorf("%q: %v", given, err)
		}
	}
}

// TestSilentPlacesAreAskedTogether: workers that do not answer cost a search no more than one of them does.
func TestSilentPlacesAreAskedTogether(t *testing.T) {
	cost := func(places ...string) (d time.Duration) {
		synctest.Test(t, func(t *testing.T) {
			s := &shardSearch{app: &app{shards: places}, clients: make(map[string]*shardrpc.Client)}
			for _, place := range places {
				c, err := shardrpc.Dial(place, grpc.WithTransportCredentials(insecure.NewCredentials()), grpc.WithContextDialer(
					func(ctx context.Context, _ string) (net.Conn, error) {
						<-ctx.Done()
						return nil, ctx.Err()
					}))
				if err != nil {
					t.Fatal(err)
				}
				s.clients[place] = c
			}
			begun := time.Now()
			p, err := s.findGiven(t.Context())
			d = time.Since(begun)
			if err != nil || len(p.missing) != len(places) {
				t.Errorf("got %v, %v, want that the shards at %q are missing", p, err, places)
			}
			if err := s.Close(); err != nil {
				t.Error(err)
			}
		})
		return d
	}
	if one, three := cost("a:1"), cost("a:1", "b:1", "c:1"); one != three {
		t.Errorf("one place cost %v, three cost %v", one, three)
	}
}
