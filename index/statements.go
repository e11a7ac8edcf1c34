package index

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"github.com/webindexer/indexer/index/postings"
)

// A search runs a dozen short queries, and preparing them would take longer than running
// them. So the queries that are always the same are prepared once for each connection.

// fullTextTable is the name of the full-text table.
const fullTextTable = "fts"

var preparedQueries = append(postings.Queries(fullTextTable), selectState, selectStemmers, selectMatch, selectLengths, selectCandidates, selectProminent, selectNamed, selectTexts, selectRests, selectSketches, selectHits, selectWords, selectRepeats)

// prepareQueries prepares the queries of searches.
func prepareQueries(db *sql.DB) (map[string]*sql.Stmt, error) {
	list := make(map[string]*sql.Stmt, len(preparedQueries))
	for _, text := range preparedQueries {
		s, err := db.Prepare(text)
		if err != nil {
			return nil, errors.Join(fmt.Errorf("prepare %q: %w", text, err), closeStatements(list))
		}
		list[text] = s
	}
	return list, nil
}

func closeStatements(list map[string]*sql.Stmt) error {
	var errs []error
	for _, s := range list {
		errs = append(errs, s.Close())
	}
	return errors.Join(errs...)
}

// query runs a query on the view's snapshot, prepared if it is one of preparedQueries.
func (v *View) query(ctx context.Context, text string, args ...any) (*sql.Rows, error) {
	if s := v.statements[text]; s != nil {
		return v.tx.StmtContext(ctx, s).QueryContext(ctx, args...)
	}
	return v.tx.QueryContext(ctx, text, args...)
}

// eachRow calls fn with each row of the result of a query, until fn fails, and closes the rows. Its
// first two arguments are what the query returned.
func eachRow(rows *sql.Rows, err error, fn func() error) error {
	if err != nil {
		return err
	}
	for err == nil && rows.Next() {
		err = fn()
	}
	return errors.Join(err, rows.Err(), rows.Close())
}
