package postgres

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/webindexer/indexer/store"
)

// callError translates an error of a call.
func (t *table) callError(err error) error {
	switch c := code(err); {
	case c == "53100":
		err = fmt.Errorf("%w: %w: make room on the server of the database", store.ErrNoSpace, err)
	case c == "XX001", c == "XX002":
		err = fmt.Errorf("%w: %w: restore the database from a backup", store.ErrCorrupt, err)
	case c == "42P01", c == "42883", c == "3F000":
		err = fmt.Errorf("%w: the schema was removed or replaced while it was open: open it again", err)
	}
	return &callFailure{where: fmt.Sprintf("schema %s on %s", t.name, t.server), err: err}
}

// callFailure says where a call has failed.
type callFailure struct {
	where string
	err   error
}

func (f *callFailure) Error() string { return fmt.Sprintf("store: %s: %v", f.where, f.err) }
func (f *callFailure) Unwrap() error { return f.err }

// Is makes errors that may pass store.ErrUnavailable. Their texts say so themselves.
func (f *callFailure) Is(target error) bool {
	return target == store.ErrUnavailable && passing(f.err)
}

// openError says which database could not be opened, and what to do about it. The sentinels
// say enough themselves.
func (t *table) openError(err error) error {
	for _, known := range []error{store.ErrForeign, store.ErrNewerFormat, store.ErrCorrupt, context.Canceled} {
		if errors.Is(err, known) {
			return err
		}
	}
	if call, ok := errors.AsType[*callFailure](err); ok {
		err = call.err // it names the same place
	}
	return &openFailure{where: fmt.Sprintf("schema %s on %s", t.name, t.server), err: err}
}

// openFailure is an error of Open on one line. The driver reports each attempt to connect on
// a line of its own, and attempts with and without encryption usually fail alike.
type openFailure struct {
	where string
	err   error
}

func (f *openFailure) Unwrap() error { return f.err }

// Is is that of callFailure.
func (f *openFailure) Is(target error) bool { return target == store.ErrUnavailable && passing(f.err) }

func (f *openFailure) Error() string {
	var parts []string
	for line := range strings.Lines(f.err.Error()) {
		if line = strings.Trim(line, " \t\n:"); line != "" && !slices.Contains(parts, line) {
			parts = append(parts, line)
		}
	}
	text := fmt.Sprintf("store: open %s: %s", f.where, strings.Join(parts, "; "))
	if what := advice(f.err); what != "" {
		text += ": " + what
	}
	return text
}

// advice says what to do about a server that refuses to be used, or cannot be reached.
func advice(err error) string {
	switch code(err) {
	case "28P01", "28000":
		return "check the user and the password (PGPASSWORD or ~/.pgpass), and pg_hba.conf on the server"
	case "3D000":
		return "make the database first, with CREATE DATABASE"
	case "42501":
		return "the first opening needs a role that may create a schema in the database; later ones need USAGE on the schema, and SELECT, INSERT, UPDATE and DELETE on its tables"
	case "53300":
		return "raise max_connections on the server, or lower pool_max_conns in the setting store"
	case "":
		if _, ok := errors.AsType[*pgconn.ConnectError](err); ok {
			return "check that the server runs, and the host and port in the setting store"
		}
	}
	return ""
}
