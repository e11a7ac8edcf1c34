package postgres

import (
	"cmp"
	"errors"
	"fmt"
	"net/url"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/webindexer/indexer/store"
)

// Options of Open. The zero value takes all defaults.
type Options struct {
	// Conns bounds the connections for everything except scans; 0 means 16. The
	// parameter pool_max_conns of the URL overrides it. Scans have a quarter as many
	// connections of their own, so that they cannot block transactions.
	Conns int
	// CallTimeout bounds each attempt of a call, on the client and on the server; 0 means
	// 15 s. Scans have no bound on the server, because they may have to read many rows
	// before they find one.
	CallTimeout time.Duration
	// RetryFor is how long a call tries again while the server cannot be reached or refuses
	// to work, if nothing can have happened or repeating is harmless; 0 means 20 s.
	RetryFor time.Duration
}

func (o Options) withDefaults() Options {
	return Options{
		Conns:       cmp.Or(o.Conns, 16),
		CallTimeout: cmp.Or(o.CallTimeout, 15*time.Second),
		RetryFor:    cmp.Or(o.RetryFor, 20*time.Second),
	}
}

// DefaultSchema is the schema of a table whose URL names none.
const DefaultSchema = "indexer"

// limits: see headBytes for the key. An index entry has the head, the hash and the column, and must
// stay below 2,704 bytes. PostgreSQL itself would take values of 1 GiB.
var limits = store.Limits{
	MaxRowBytes:    16 << 10,
	MaxColumnBytes: 1536,
	MaxValueBytes:  8 << 20,
	MaxBatchBytes:  8<<20 + 64<<10,
	MaxTS:          store.MaxTS,
}

// parseSetting splits a URL into what pgx understands and the schema: the parameter
// schema, or the first name of search_path. Its errors show no password.
func parseSetting(setting string) (config *pgxpool.Config, schema string, err error) {
	u, err := url.Parse(setting)
	if err != nil || strings.Contains(u.EscapedPath()+u.EscapedFragment(), "@") { // of a password with / or #
		return nil, "", errors.New("store: the URL of the database is not valid: write postgres://USER@HOST/DATABASE, and encode special characters in the password (%40 for @)")
	}
	q, err := url.ParseQuery(u.RawQuery) // u.Query would leave out what it does not understand, such as sslmode
	if err != nil {
		return nil, "", errors.New("store: the parameters in the URL of the database are not valid: separate them with &, and encode special characters (%25 for a percent sign, %3B for a semicolon)")
	}
	schema = DefaultSchema
	if path := q.Get("search_path"); path != "" {
		schema, _, _ = strings.Cut(path, ",")
		schema = strings.Trim(strings.TrimSpace(schema), `"`)
	}
	if q.Has("schema") {
		schema = q.Get("schema")
	}
	if err := checkSchemaName(schema); err != nil {
		return nil, "", err
	}
	q.Del("schema")
	q.Del("search_path")
	u.RawQuery = q.Encode()
	config, err = pgxpool.ParseConfig(u.String())
	if err != nil {
		return nil, "", fmt.Errorf("store: the URL of the database: %w", err)
	}
	switch config.ConnConfig.DefaultQueryExecMode {
	case pgx.QueryExecModeExec, pgx.QueryExecModeSimpleProtocol: // results would be text, and are decoded as binary
		return nil, "", fmt.Errorf("store: the URL of the database has default_query_exec_mode=%s, which does not prepare statements: remove it", q.Get("default_query_exec_mode"))
	}
	if !q.Has("pool_max_conns") {
		config.MaxConns = 0 // pgx's default is not ours
	}
	return config, schema, nil
}

func checkSchemaName(name string) error {
	const longest = 63 // PostgreSQL would cut a longer one, and two could become one
	switch {
	case name == "" || len(name) > longest || strings.ContainsRune(name, 0):
		return fmt.Errorf("store: schema %q: a name has 1 to %d bytes", name, longest)
	case strings.HasPrefix(name, "pg_") || name == "information_schema":
		return fmt.Errorf("store: schema %q belongs to PostgreSQL itself: name another one with ?schema=", name)
	}
	return nil
}
