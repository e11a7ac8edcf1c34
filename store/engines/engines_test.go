package engines

import (
	"context"
	"path/filepath"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"github.com/webindexer/indexer/internal/pgtest"
	"github.com/webindexer/indexer/store"
	"github.com/webindexer/indexer/store/badgerdb"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(pgtest.Main{M: m}) }

var groups = []store.GroupSpec{{Name: "g"}}

func TestDirectory(t *testing.T) {
	table, err := Open(context.Background(), filepath.Join(t.TempDir(), "store"), groups, Options{Badger: badgerdb.Options{MinFreeBytes: -1}})
	if err != nil {
		t.Fatal(err)
	}
	if _, ok := table.(store.Committer); !ok {
		t.Error("a table in a directory cannot commit in one phase")
	}
	if err := table.Close(); err != nil {
		t.Error(err)
	}
}

func TestPostgres(t *testing.T) {
	setting := pgtest.Shared(t).Schema(t)
	for _, scheme := range []string{"postgres", "postgresql"} {
		table, err := Open(context.Background(), strings.Replace(setting, "postgres", scheme, 1), groups, Options{})
		if err != nil {
			t.Fatal(err)
		}
		if _, ok := table.(store.Committer); ok {
			t.Error("a table in a database cannot commit in one phase")
		}
		if err := table.Close(); err != nil {
			t.Error(err)
		}
	}
}

func TestBadSettings(t *testing.T) {
	for setting, want := range map[string]string{
		"":                          "the setting is empty",
		"cassandra://host/keyspace": "no engine for cassandra://",
		"foo://user:secret@host/db": "foo://user:xxxxx@host/db",
		"://":                       "no engine for ://",
	} {
		table, err := Open(context.Background(), setting, groups, Options{})
		if err == nil || table != nil {
			t.Errorf("Open(%q) = %v, %v", setting, table, err)
		} else if !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "secret") {
			t.Errorf("Open(%q): %v; want %q, and no password", setting, err, want)
		}
	}
}

func TestRedact(t *testing.T) {
	for setting, want := range map[string]string{
		"data/store":                          "data/store",
		"postgres://u:secret@h/db":            "postgres://u:xxxxx@h/db",
		"postgres://h/db?password=secret&a=b": "postgres://h/db?a=b&password=xxxxx",
		"postgres://u:sec%ret@h/db":           "postgres://…",
		"postgres://h/db?password=secret;a=b": "postgres://…",
		"postgres://u:1#secret@h/db":          "postgres://…",
		"postgres://u:1/secret@h/db":          "postgres://…",
		"postgres://u:1?secret@h/db":          "postgres://…",
		"postgres://u:secret@h/d%40b?a=%40":   "postgres://u:xxxxx@h/d%40b?a=%40",
		"bigtable://p/i/x":                    "bigtable://p/i/x",
	} {
		if got := Redact(setting); got != want {
			t.Errorf("Redact(%q) = %q, want %q", setting, got, want)
		}
	}
}
