package repository

import (
	"context"
	"errors"
	"fmt"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"

	"indexer/index"
	"indexer/notify"
	"indexer/store"
)

// sink is the index files as the observers write them.
//
// It tells errors of the files from those of a document. A document that cannot
// be written goes to the dead letters after some attempts, and the others go on.
// If the disk is full or the files are damaged, all documents would go there one
// by one, and none would come back when there is room again. So such an error
// stops the pipeline; what is left to do stays in the table for the next Open.
type sink struct{ files *index.Writer }

func (s sink) Apply(ctx context.Context, changes []index.Change) error {
	return fileError(s.files.Apply(ctx, changes))
}

func (s sink) SetRanks(ctx context.Context, ranks []index.RankUpdate) error {
	return fileError(s.files.SetRanks(ctx, ranks))
}

// fileError marks an error of the index files that concerns all documents: with
// store.ErrNoSpace if the disk is full, with notify.ErrFatal else.
func fileError(err error) error {
	var e *sqlite.Error
	if !errors.As(err, &e) {
		return err
	}
	switch e.Code() & 0xff { // the primary result code
	case sqlite3.SQLITE_FULL:
		return fmt.Errorf("%w: %w", store.ErrNoSpace, err)
	case sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB:
		return fmt.Errorf("%w: %w: delete the index files, and they are made anew from the store", notify.ErrFatal, err)
	case sqlite3.SQLITE_IOERR, sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_PERM:
		return fmt.Errorf("%w: %w", notify.ErrFatal, err)
	}
	return err
}
