package postgres

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"hash/fnv"
	"maps"
	"slices"
	"strings"
	"text/template"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/webindexer/indexer/store"
)

// The format of the schema. A program refuses a greater number.
const (
	formatName    = "indexer table"
	formatVersion = 1
	// oldestServer has pg_terminate_backend with a timeout.
	oldestServer = 14
)

var (
	//go:embed tables.sql.tmpl
	tablesText string
	//go:embed mutate.sql.tmpl
	mutateText string

	tablesTemplate = template.Must(template.New("tables").Parse(tablesText))
	mutateTemplate = template.Must(template.New("mutate").Parse(mutateText))
)

// group is a locality group as stored.
type group struct {
	store.GroupSpec
	Number int    // of its SQL table
	Table  string // quoted, with the schema
}

// prepare makes what the schema lacks, and finds the rest. Everything happens in one
// transaction under an advisory lock, so processes that start at the same time wait for the
// first one, and a crash leaves nothing half done. A person may be waiting because of a
// wrong host, so it does not try for long.
func (t *table) prepare(ctx context.Context) error {
	return t.retryFor(ctx, min(t.opts.RetryFor, 5*time.Second), reading, t.calls, func(ctx context.Context, c *pgx.Conn) error {
		return pgx.BeginFunc(ctx, c, func(tx pgx.Tx) error {
			p := &preparing{table: t, ctx: ctx, tx: tx}
			return p.run()
		})
	})
}

type preparing struct {
	*table
	ctx   context.Context
	tx    pgx.Tx
	citus bool
}

func (p *preparing) run() error {
	var version int
	if err := p.tx.QueryRow(p.ctx, "SELECT current_setting('server_version_num')::int / 10000").Scan(&version); err != nil {
		return err
	}
	if version < oldestServer {
		return fmt.Errorf("the server is PostgreSQL %d: use version %d or later", version, oldestServer)
	}
	if _, err := p.tx.Exec(p.ctx, "SELECT pg_advisory_xact_lock($1)", lockNumber("schema "+p.name, nil)); err != nil {
		return err
	}
	if err := p.tx.QueryRow(p.ctx, "SELECT EXISTS (SELECT FROM pg_extension WHERE extname = 'citus')").Scan(&p.citus); err != nil {
		return err
	}
	if err := p.format(); err != nil {
		return err
	}
	if err := p.findGroups(); err != nil {
		return err
	}
	return p.function()
}

// quoted is a name in the schema, for SQL.
func (t *table) quoted(name string) string { return pgx.Identifier{t.name, name}.Sanitize() }

// format checks what the schema holds, and claims it if it holds nothing.
func (p *preparing) format() error {
	var exists, claimed bool
	err := p.tx.QueryRow(p.ctx, `SELECT EXISTS (SELECT FROM pg_namespace WHERE nspname = $1),
		EXISTS (SELECT FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace WHERE n.nspname = $1 AND c.relname = 'format')`, p.name).Scan(&exists, &claimed)
	if err != nil {
		return err
	}
	if claimed {
		return p.checkFormat()
	}
	if exists {
		if err := p.checkEmpty(); err != nil {
			return err
		}
	} else if _, err := p.tx.Exec(p.ctx, "CREATE SCHEMA "+pgx.Identifier{p.name}.Sanitize()); err != nil {
		return err
	}
	for _, sql := range []string{
		"CREATE TABLE " + p.quoted("format") + " (name text NOT NULL, version int NOT NULL)",
		"CREATE TABLE " + p.quoted("locality_group") + " (number int PRIMARY KEY, name bytea NOT NULL UNIQUE, latest boolean NOT NULL)",
	} {
		if _, err := p.tx.Exec(p.ctx, sql); err != nil {
			return err
		}
	}
	if p.citus {
		for _, name := range []string{"format", "locality_group"} {
			if _, err := p.tx.Exec(p.ctx, "SELECT create_reference_table($1)", p.quoted(name)); err != nil {
				return err
			}
		}
	}
	_, err = p.tx.Exec(p.ctx, "INSERT INTO "+p.quoted("format")+" VALUES ($1, $2)", formatName, formatVersion)
	return err
}

// checkEmpty refuses a schema with tables, views, sequences, types or functions in it.
func (p *preparing) checkEmpty() error {
	var found string
	err := p.tx.QueryRow(p.ctx, `SELECT relname FROM pg_class WHERE relnamespace = $1::regnamespace
		UNION ALL SELECT proname FROM pg_proc WHERE pronamespace = $1::regnamespace LIMIT 1`, pgx.Identifier{p.name}.Sanitize()).Scan(&found)
	switch {
	case errors.Is(err, pgx.ErrNoRows):
		return nil
	case err != nil:
		return err
	}
	return p.foreign(fmt.Sprintf("it has %q and no table format", found))
}

func (p *preparing) foreign(why string) error {
	return fmt.Errorf("%w: schema %s on %s is not a table of this program (%s): name another schema with ?schema=", store.ErrForeign, p.name, p.server, why)
}

func (p *preparing) checkFormat() error {
	var columns int
	// Not from information_schema, which hides what the role may not read.
	err := p.tx.QueryRow(p.ctx, `SELECT count(*) FROM pg_attribute a JOIN pg_class c ON c.oid = a.attrelid JOIN pg_namespace n ON n.oid = c.relnamespace
		WHERE n.nspname = $1 AND c.relname = 'format' AND (a.attname, a.atttypid) IN (('name', 'text'::regtype), ('version', 'int'::regtype))`, p.name).Scan(&columns)
	if err != nil {
		return err
	}
	if columns != 2 {
		return p.foreign("its table format has other columns")
	}
	var (
		name    string
		version int
	)
	err = p.tx.QueryRow(p.ctx, "SELECT name, version FROM "+p.quoted("format")).Scan(&name, &version)
	switch {
	case errors.Is(err, pgx.ErrNoRows):
		return fmt.Errorf("%w: the table %s is empty: restore the schema from a backup", store.ErrCorrupt, p.quoted("format"))
	case err != nil:
		return err
	case name != formatName:
		return p.foreign(fmt.Sprintf("its format is %q", name))
	case version > formatVersion:
		return fmt.Errorf("%w: schema %s on %s has format %d, and this program knows %d: use the newer program", store.ErrNewerFormat, p.name, p.server, version, formatVersion)
	}
	return nil
}

// findGroups matches the declared groups with the stored ones, and makes tables for new
// ones. A stored group that is missing, or of another kind, is an error: its cells would be
// out of reach or misread.
func (p *preparing) findGroups() error {
	known, next, err := p.storedGroups()
	if err != nil {
		return err
	}
	p.groups = nil
	for _, spec := range p.checker.Schema.Specs() {
		g, ok := known[spec.Name]
		delete(known, spec.Name)
		if ok && g.Latest != spec.Latest {
			return fmt.Errorf("locality group %q has Latest = %v in the database, and was opened with %v", spec.Name, g.Latest, spec.Latest)
		}
		g.GroupSpec = spec
		if !ok {
			g.Number = next
			next++
		}
		g.Table = p.quoted(fmt.Sprint("cells_", g.Number))
		if !ok {
			if err := p.makeGroup(&g); err != nil {
				return fmt.Errorf("make locality group %q: %w", spec.Name, err)
			}
		}
		p.groups = append(p.groups, g)
	}
	if left := slices.Sorted(maps.Keys(known)); len(left) > 0 {
		return fmt.Errorf("the database has a locality group %q that the table was opened without: this program does not match the data", left[0])
	}
	return nil
}

func (p *preparing) storedGroups() (known map[string]group, next int, err error) {
	rows, err := p.tx.Query(p.ctx, "SELECT number, name, latest FROM "+p.quoted("locality_group"))
	if err != nil {
		return nil, 0, err
	}
	known = make(map[string]group)
	var (
		g    group
		name []byte
	)
	_, err = pgx.ForEachRow(rows, []any{&g.Number, &name, &g.Latest}, func() error {
		g.Name = string(name)
		known[g.Name] = g
		next = max(next, g.Number+1)
		return nil
	})
	return known, next, err
}

func (p *preparing) makeGroup(g *group) error {
	var sql strings.Builder
	err := tablesTemplate.Execute(&sql, struct {
		*group
		Comment string
	}{g, quoteLiteral("locality group " + g.Name)})
	if err != nil {
		return err
	}
	if _, err := p.tx.Conn().PgConn().Exec(p.ctx, sql.String()).ReadAll(); err != nil { // several statements
		return err
	}
	if p.citus {
		if _, err := p.tx.Exec(p.ctx, "SELECT create_distributed_table($1, 'head', colocate_with => $2)", g.Table, p.colocation(g)); err != nil {
			return err
		}
	}
	_, err = p.tx.Exec(p.ctx, "INSERT INTO "+p.quoted("locality_group")+" VALUES ($1, $2, $3)", g.Number, []byte(g.Name), g.Latest)
	return err
}

// colocation names the table with which Citus colocates a group, so that a row is on
// one server.
func (p *preparing) colocation(g *group) string {
	if g.Number == 0 {
		return "none"
	}
	return p.quoted("cells_0")
}

// quoteLiteral quotes a string for SQL that takes no parameters. A group's name may hold
// any bytes, but a comment only text.
func quoteLiteral(s string) string {
	s = strings.ToValidUTF8(strings.ReplaceAll(s, "\x00", "␀"), "�")
	return " E'" + strings.NewReplacer(`\`, `\\`, `'`, `\'`).Replace(s) + "'"
}

// function makes the function of mutate.sql.tmpl for these groups, if it is not there.
func (p *preparing) function() error {
	data := struct {
		Function    string
		Groups      []group
		Put, Delete store.Op
	}{Function: "FUNCTION", Groups: p.groups, Put: store.Put, Delete: store.Delete}
	var text strings.Builder
	if err := mutateTemplate.Execute(&text, data); err != nil {
		return err
	}
	digest := fnv.New64a()
	_, _ = digest.Write([]byte(text.String()))
	name := fmt.Sprintf("mutate_%016x", digest.Sum64())
	p.mutateSQL = "SELECT refused, found_group, found_col, found_ts FROM " + p.quoted(name) + "($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19)"
	var exists bool
	err := p.tx.QueryRow(p.ctx, "SELECT EXISTS (SELECT FROM pg_proc WHERE proname = $2 AND pronamespace = $1::regnamespace)", pgx.Identifier{p.name}.Sanitize(), name).Scan(&exists)
	if err != nil || exists {
		return err
	}
	data.Function = p.quoted(name)
	text.Reset()
	if err := mutateTemplate.Execute(&text, data); err != nil {
		return err
	}
	_, err = p.tx.Exec(p.ctx, text.String())
	return err
}
