package postgres

import (
	"context"
	"crypto/rand"
	"fmt"
	"maps"
	"net"
	"strconv"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/webindexer/indexer/store"
	"github.com/webindexer/indexer/store/internal/engine"
)

// Open opens the table in the schema that a URL names, and makes an empty one in an empty or
// missing schema. It refuses a schema that holds anything else (store.ErrForeign) or a
// newer format (store.ErrNewerFormat).
//
// The URL is one that libpq understands, postgres://USER@HOST:PORT/DATABASE?sslmode=verify-full, with
// the additional parameter schema. It may name several hosts: only one that accepts writes is used.
// A proxy between the program and the server must keep sessions, because statements are
// prepared.
func Open(ctx context.Context, setting string, groups []store.GroupSpec, opts Options) (store.Table, error) {
	schema, err := engine.NewSchema(groups)
	if err != nil {
		return nil, err
	}
	config, name, err := parseSetting(setting)
	if err != nil {
		return nil, &store.SettingError{Err: err}
	}
	t := &table{
		opts: opts.withDefaults(), name: name, server: serverName(config), closing: make(chan struct{}),
		checker: engine.Checker{Schema: schema, Limits: limits},
	}
	if config.MaxConns == 0 {
		config.MaxConns = int32(t.opts.Conns)
	}
	if t.calls, err = newPool(ctx, config, config.MaxConns, t.opts.CallTimeout, t.opts.CallTimeout); err != nil {
		return nil, t.openError(err)
	}
	t.reads = readQueue{table: t, most: max(1, int(config.MaxConns)/4)}
	if t.scans, err = newPool(ctx, config, max(2, config.MaxConns/4), t.opts.CallTimeout, 0); err != nil {
		t.calls.Close()
		return nil, t.openError(err)
	}
	if err := t.prepare(ctx); err != nil {
		t.closePools()
		return nil, t.openError(err)
	}
	return t, nil
}

// sessionSettings are those of every connection.
var sessionSettings = map[string]string{
	"idle_in_transaction_session_timeout": "60000", // milliseconds
	"default_transaction_isolation":       "read committed",
	"default_transaction_deferrable":      "off",
	"search_path":                         "pg_catalog",
	// Every statement is a look-up or a range of a primary key. A plan lives as long as its
	// connection, and a plan made while the table was empty must not scan the whole table
	// when it is full.
	"enable_seqscan":                  "off",
	"enable_bitmapscan":               "off",
	"plan_cache_mode":                 "force_generic_plan",
	"max_parallel_workers_per_gather": "0",
	"jit":                             "off",
}

// newPool opens no connection yet. A statementTimeout of 0 sets none on the server.
func newPool(ctx context.Context, base *pgxpool.Config, conns int32, callTimeout, statementTimeout time.Duration) (*pgxpool.Pool, error) {
	config := base.Copy()
	config.MaxConns = conns
	config.BeforeConnect = func(_ context.Context, c *pgx.ConnConfig) error {
		c.RuntimeParams["application_name"] = sessionName()
		return nil
	}
	config.AfterConnect = prepareSession
	if config.PingTimeout == 0 { // a call that finds many broken connections still comes to a new one
		config.PingTimeout = callTimeout / 16
	}
	c := &config.ConnConfig.Config
	if c.ConnectTimeout == 0 {
		c.ConnectTimeout = 5 * time.Second
	}
	c.DialFunc = (&net.Dialer{Timeout: c.ConnectTimeout, KeepAliveConfig: net.KeepAliveConfig{Enable: true, Idle: 5 * time.Second, Interval: 5 * time.Second, Count: 3}}).DialContext
	if c.ValidateConnect == nil {
		c.ValidateConnect = pgconn.ValidateConnectTargetSessionAttrsReadWrite
	}
	maps.Copy(c.RuntimeParams, sessionSettings)
	c.RuntimeParams["statement_timeout"] = strconv.FormatInt(statementTimeout.Milliseconds(), 10)
	return pgxpool.NewWithConfig(ctx, config)
}

// sessionName is different for each connection, so that what one has begun can be ended by
// another one (retry.go).
func sessionName() string { return "indexer " + rand.Text() }

// prepareSession makes an acknowledged commit durable where the database would not by default.
// Other settings are left alone: with synchronous standbys, remote_apply is more than on.
func prepareSession(ctx context.Context, conn *pgx.Conn) error {
	_, err := conn.Exec(ctx, "SELECT pg_catalog.set_config('synchronous_commit', 'on', false) WHERE pg_catalog.current_setting('synchronous_commit') = 'off'")
	return err
}

// serverName is host, port and database, for messages.
func serverName(c *pgxpool.Config) string {
	return fmt.Sprintf("%s:%d/%s", c.ConnConfig.Host, c.ConnConfig.Port, c.ConnConfig.Database)
}
