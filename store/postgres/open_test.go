package postgres

import (
	"context"
	"errors"
	"net/url"
	"strings"
	"sync"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/webindexer/indexer/internal/pgtest"
	"github.com/webindexer/indexer/store"
)

func TestParseSetting(t *testing.T) {
	for _, tc := range []struct{ setting, schema, err string }{
		{"postgres://u@h/db", "indexer", ""},
		{"postgres://u@h/db?schema=web", "web", ""},
		{"postgres://u@h/db?search_path=web,public", "web", ""},
		{"postgres://u@h/db?search_path=%22Web%22", "Web", ""},
		{"postgres://u@h/db?search_path=a&schema=b", "b", ""},
		{"postgres://u@h/db?schema=", "", "1 to 63 bytes"},
		{"postgres://u@h/db?schema=pg_x", "", "belongs to PostgreSQL"},
		{"postgres://u@h/db?schema=information_schema", "", "belongs to PostgreSQL"},
		{"postgres://u@h/db?schema=" + strings.Repeat("x", 64), "", "1 to 63 bytes"},
		{"postgres://u:sec%ret@h/db", "", "encode special characters"},
		{"postgres://u:1#secret@h/db", "", "encode special characters"},
		{"postgres://u:1/secret@h/db", "", "encode special characters"},
		{"postgres://u@h/d%40b", "indexer", ""},
		{"postgres://u:secret@h:port/db", "", "URL of the database"},
		{"postgres://u:secret@h/db?sslmode=sometimes", "", "sslmode"},
		{"postgres://h/db?password=secret;sslmode=verify-full", "", "parameters"},
		{"postgres://h/db?password=secret%&schema=web", "", "parameters"},
		{"postgres://u:secret@h/db?default_query_exec_mode=exec", "", "=exec, which does not prepare statements: remove it"},
		{"postgres://u:secret@h/db?default_query_exec_mode=simple_protocol", "", "=simple_protocol, which"},
		{"postgres://u:secret@h/db?default_query_exec_mode=cache_describe", "indexer", ""},
	} {
		_, schema, err := parseSetting(tc.setting)
		switch {
		case (err == nil) != (tc.err == ""), err != nil && !strings.Contains(err.Error(), tc.err):
			t.Errorf("%s: %v, want %q", tc.setting, err, tc.err)
		case err != nil && (strings.Contains(err.Error(), "secret") || strings.Contains(err.Error(), "sec%ret")):
			t.Errorf("%s: the error shows the password: %v", tc.setting, err)
		case err == nil && schema != tc.schema:
			t.Errorf("%s: schema %q, want %q", tc.setting, schema, tc.schema)
		}
	}
}

var two = []store.GroupSpec{{Name: "a"}, {Name: "b", Latest: true}}

// execute runs SQL outside the engine. %s is the schema.
func execute(t *testing.T, setting string, sql ...string) {
	t.Helper()
	ctx := context.Background()
	_, schema, err := parseSetting(setting)
	if err != nil {
		t.Fatal(err)
	}
	conn, err := pgx.Connect(ctx, pgtest.Shared(t).URL(""))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(ctx)
	for _, s := range sql {
		if _, err := conn.Exec(ctx, strings.ReplaceAll(s, "%s", schema)); err != nil {
			t.Fatalf("%s: %v", s, err)
		}
	}
}

// TestOpenRefuses: a schema that is not a table of this program, or of this version, is left
// alone.
func TestOpenRefuses(t *testing.T) {
	for _, tc := range []struct {
		name   string
		made   []store.GroupSpec // by an earlier opening
		sql    []string
		groups []store.GroupSpec
		is     error
		text   string
	}{
		{"foreign table", nil, []string{"CREATE SCHEMA %s", "CREATE TABLE %s.orders (n int)"}, two, store.ErrForeign, "orders"},
		{"foreign function", nil, []string{"CREATE SCHEMA %s", "CREATE FUNCTION %s.f() RETURNS int LANGUAGE sql AS 'SELECT 1'"}, two, store.ErrForeign, `"f"`},
		{"foreign format", nil, []string{"CREATE SCHEMA %s", "CREATE TABLE %s.format (n int)"}, two, store.ErrForeign, "other columns"},
		{"format of others", two, []string{"UPDATE %s.format SET name = 'postcards'"}, two, store.ErrForeign, "postcards"},
		{"newer", two, []string{"UPDATE %s.format SET version = version + 1"}, two, store.ErrNewerFormat, "store: written by a newer version: schema "},
		{"no format", two, []string{"DELETE FROM %s.format"}, two, store.ErrCorrupt, "restore"},
		{"missing group", two, nil, two[:1], nil, `locality group "b"`},
		{"other kind", two, nil, []store.GroupSpec{{Name: "a"}, {Name: "b"}}, nil, "Latest = true"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			setting := pgtest.Shared(t).Schema(t)
			if tc.made != nil {
				table, err := Open(t.Context(), setting, tc.made, Options{})
				if err != nil {
					t.Fatal(err)
				}
				table.Close()
			}
			execute(t, setting, tc.sql...)
			table, err := Open(t.Context(), setting, tc.groups, Options{})
			if err == nil {
				table.Close()
				t.Fatal("it opened")
			}
			if tc.is != nil && !errors.Is(err, tc.is) || !strings.Contains(err.Error(), tc.text) {
				t.Errorf("%v; want %v, %q", err, tc.is, tc.text)
			}
		})
	}
}

// TestOpenWithRights: a role that may read and write the tables is enough for a table that
// exists. One that may not learns what it lacks, and not that the table is another program's.
func TestOpenWithRights(t *testing.T) {
	setting := pgtest.Shared(t).Schema(t)
	made, err := Open(t.Context(), setting, two, Options{})
	if err != nil {
		t.Fatal(err)
	}
	made.Close()
	execute(t, setting, "CREATE ROLE %s LOGIN")
	t.Cleanup(func() { execute(t, setting, "DROP OWNED BY %s", "DROP ROLE %s") })
	_, schema, err := parseSetting(setting)
	if err != nil {
		t.Fatal(err)
	}
	u, err := url.Parse(setting)
	if err != nil {
		t.Fatal(err)
	}
	q := u.Query()
	q.Set("user", schema)
	u.RawQuery = q.Encode()
	limited := u.String()
	_, err = Open(t.Context(), limited, two, Options{})
	if err == nil || errors.Is(err, store.ErrForeign) || !strings.Contains(err.Error(), "need USAGE on the schema") {
		t.Errorf("%v; want the rights that are missing", err)
	}
	execute(t, setting, "GRANT USAGE ON SCHEMA %s TO %s", "GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA %s TO %s")
	table, err := Open(t.Context(), limited, two, Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer table.Close()
	put := store.RowMutation{Row: []byte("r"), Mutations: []store.Mutation{{Group: "a", TS: 1, Value: []byte("v")}}}
	if res, err := table.Mutate(t.Context(), put); err != nil || res.Outcome != store.Applied {
		t.Error(res, err)
	}
}

// TestOpenAgain: rows stay, new groups are added, an empty schema is used, and processes that start
// at the same time agree.
func TestOpenAgain(t *testing.T) {
	ctx := t.Context()
	setting := pgtest.Shared(t).Schema(t)
	execute(t, setting, "CREATE SCHEMA %s")
	tables := make([]store.Table, 4)
	var opening sync.WaitGroup
	for i := range tables {
		opening.Go(func() {
			var err error
			if tables[i], err = Open(ctx, setting, two, Options{}); err != nil {
				t.Error(err)
			}
		})
	}
	opening.Wait()
	if t.Failed() {
		t.FailNow()
	}
	put := store.RowMutation{Row: []byte("r"), Mutations: []store.Mutation{{Group: "a", TS: 1, Value: []byte("v")}}}
	if res, err := tables[0].Mutate(ctx, put); err != nil || res.Outcome != store.Applied {
		t.Fatal(res, err)
	}
	three := []store.GroupSpec{{Name: "new 'group\" \\ \xff\x00"}, two[1], two[0]} // in another order
	wider, err := Open(ctx, setting, three, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if err := wider.Apply(ctx, []store.RowMutation{{Row: []byte("r"), Mutations: []store.Mutation{{Group: three[0].Name, TS: 2}}}}); err != nil {
		t.Error(err)
	}
	cells, err := wider.Read(ctx, []byte("r"), store.Selector{Group: three[0].Name}, store.Selector{Group: "a"})
	if err != nil || len(cells) != 2 || cells[0].TS != 2 || string(cells[1].Value) != "v" {
		t.Errorf("%v, %v", cells, err)
	}
	// The programs that were open before continue, with their own function.
	if res, err := tables[1].Mutate(ctx, put); err != nil || res.Outcome != store.Applied {
		t.Error(res, err)
	}
	for _, table := range append(tables, wider) {
		if err := table.Close(); err != nil {
			t.Error(err)
		}
	}
}

func TestOpenUnreachable(t *testing.T) {
	_, err := Open(t.Context(), "postgres://u:secret@/db?host=/nowhere", two, Options{RetryFor: 1})
	if err == nil || strings.Contains(err.Error(), "secret") || !strings.Contains(err.Error(), "/nowhere") {
		t.Errorf("%v", err)
	}
}

// TestDurable: a commit is durable where the database's default is not.
func TestDurable(t *testing.T) {
	table, err := Open(t.Context(), pgtest.Shared(t).Schema(t)+"&options=-csynchronous_commit%3Doff", two, Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer table.Close()
	for _, pool := range pools(table) {
		var mode string
		if err := pool.QueryRow(t.Context(), "SHOW synchronous_commit").Scan(&mode); err != nil || mode != "on" {
			t.Errorf("synchronous_commit = %q, %v", mode, err)
		}
	}
}

// TestFewRights: a process needs no right to create anything in a schema that has everything.
func TestFewRights(t *testing.T) {
	setting := pgtest.Shared(t).Schema(t)
	openAt(t, setting, Options{})
	execute(t, setting, "DROP ROLE IF EXISTS clerk", "CREATE ROLE clerk LOGIN", "GRANT USAGE ON SCHEMA %s TO clerk",
		"GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA %s TO clerk")
	t.Cleanup(func() { execute(t, setting, "DROP OWNED BY clerk", "DROP ROLE clerk") })
	table := openAt(t, strings.Replace(setting, "user=indexer", "user=clerk", 1), Options{})
	if res, err := table.Mutate(t.Context(), put(1)); err != nil || res.Outcome != store.Applied {
		t.Errorf("Mutate = %v, %v", res.Outcome, err)
	}
	if cells, err := table.Read(t.Context(), []byte("r"), store.Selector{Group: "a"}); err != nil || len(cells) != 1 {
		t.Errorf("Read = %v, %v", cells, err)
	}
	if _, err := Open(t.Context(), strings.Replace(setting, "user=indexer", "user=clerk", 1), append(two, store.GroupSpec{Name: "c"}), Options{}); err == nil {
		t.Error("a clerk made a group")
	}
}

// FuzzParseSetting: no URL is a crash, or names a schema that PostgreSQL would change.
func FuzzParseSetting(f *testing.F) {
	for _, s := range []string{"postgres://u:secret@h:5432,i:5433/db?schema=web&sslmode=disable", "postgres:///db?host=/run&search_path=%22a,b%22", "postgres://h/db?schema=%00", "://"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, setting string) {
		_, schema, err := parseSetting(setting)
		if err == nil && (schema == "" || len(schema) > 63 || strings.ContainsRune(schema, 0)) {
			t.Errorf("schema %q", schema)
		}
	})
}
