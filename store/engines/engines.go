// Package engines opens the table that the setting store names: a directory on this
// machine, or a database that many machines share.
//
// It is the only package that imports every engine. The clients of remote databases are
// large, so a package that works on any store.Table must not import it.
package engines

import (
	"context"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strings"

	"github.com/webindexer/indexer/store"
	"github.com/webindexer/indexer/store/badgerdb"
	"github.com/webindexer/indexer/store/postgres"
)

// Options of Open, for each engine. The zero value takes all defaults.
type Options struct {
	// Badger is for a directory.
	Badger badgerdb.Options
	// Postgres is for postgres://…
	Postgres postgres.Options
}

// opener opens a table that a URL names.
type opener func(ctx context.Context, setting string, groups []store.GroupSpec, opts Options) (store.Table, error)

// schemes maps the scheme of a URL to the engine that opens it.
var schemes = map[string]opener{"bigtable": openBigtable, "postgres": openPostgres, "postgresql": openPostgres}

func openPostgres(ctx context.Context, setting string, groups []store.GroupSpec, opts Options) (store.Table, error) {
	return postgres.Open(ctx, setting, groups, opts.Postgres)
}

// Open opens the table that a setting names, or makes an empty one. A setting without
// "://" is a directory, which Badger opens (its errors are those of badgerdb.Open); any
// other is a URL, whose scheme chooses the engine. Errors in a URL are *store.SettingError.
func Open(ctx context.Context, setting string, groups []store.GroupSpec, opts Options) (store.Table, error) {
	if setting == "" {
		return nil, fmt.Errorf("store: the setting is empty: name a directory or %s", known())
	}
	if !Remote(setting) {
		db, err := badgerdb.Open(setting, groups, opts.Badger)
		if err != nil {
			return nil, err // not db, which would be an interface that is not nil
		}
		return db, nil
	}
	open, err := openerOf(setting)
	if err != nil {
		return nil, err
	}
	return open(ctx, setting, groups, opts)
}

// Check returns a *store.SettingError if no engine opens what a setting names. It opens nothing.
func Check(setting string) error {
	if !Remote(setting) {
		return nil
	}
	_, err := openerOf(setting)
	return err
}

// openerOf finds the engine for a URL.
func openerOf(setting string) (opener, error) {
	scheme, _, _ := strings.Cut(setting, "://")
	open, ok := schemes[strings.ToLower(scheme)]
	if !ok {
		return nil, &store.SettingError{Err: fmt.Errorf("store %q: there is no engine for %s://: name %s", Redact(setting), scheme, known())}
	}
	return open, nil
}

// Remote reports whether a setting names a database that other processes can open at the
// same time. Otherwise it names a directory, which belongs to one process.
func Remote(setting string) bool { return strings.Contains(setting, "://") }

// Redact returns a setting without its password, for messages. If the setting is not a
// valid URL, Redact omits everything after the scheme, because the password could be
// anywhere: an @ after the host shows that the password has a character that was not encoded.
func Redact(setting string) string {
	if !Remote(setting) {
		return setting
	}
	var query url.Values
	u, err := url.Parse(setting)
	if err == nil {
		query, err = url.ParseQuery(u.RawQuery)
	}
	if err != nil || strings.Contains(u.EscapedPath()+u.RawQuery+u.EscapedFragment(), "@") {
		scheme, _, _ := strings.Cut(setting, "://")
		return scheme + "://…"
	}
	for key := range query {
		if strings.Contains(strings.ToLower(key), "password") {
			query.Set(key, "xxxxx")
			u.RawQuery = query.Encode()
		}
	}
	return u.Redacted()
}

// known lists the schemes of URLs.
func known() string {
	return strings.Join(slices.Sorted(maps.Keys(schemes)), "://… or ") + "://…"
}
