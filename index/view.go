package index

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"

	"github.com/webindexer/indexer/index/analysis"
	"github.com/webindexer/indexer/index/query"
	"github.com/webindexer/indexer/index/search"
)

// View is one state of the index, pinned by an SQLite read transaction: it does not show
// later writes. Close it soon. While it is open, the writer cannot reuse its log, which
// grows. A View is not safe for concurrent use.
type View struct {
	dir, path  string
	tx         *sql.Tx
	statements map[string]*sql.Stmt // the reader's
	names      *search.Names        // the reader's
	anchors    *AnchorMatcher       // the reader's
	cache      *viewCache           // of this state
	state      State

	completions *completions // the reader's
}

// Snapshot pins the newest state. Until it is closed, it takes one of the few connections
// of the reader. The context covers the snapshot for as long as it is open.
func (r *Reader) Snapshot(ctx context.Context) (*View, error) {
	var m *mark
	if !r.unchecked {
		var err error
		if m, err = readMark(r.dir); err != nil { // before the snapshot: see mark
			return nil, explain(r.dir, r.path, "begin", err)
		}
	}
	tx, err := r.db.BeginTx(ctx, &sql.TxOptions{ReadOnly: true})
	if err != nil {
		return nil, explain(r.dir, r.path, "begin", err)
	}
	// BEGIN alone takes no snapshot; the first read does.
	state, err := scanState(tx.StmtContext(ctx, r.statements[selectState]).QueryRowContext(ctx).Scan)
	if err == nil {
		if err = behind(m, &r.meta, state.Applied); err != nil && r.otherFile() {
			err = nil // the files were replaced just now: the mark is that of the new ones
		}
	}
	if err != nil {
		return nil, errors.Join(explain(r.dir, r.path, "begin", err), tx.Rollback())
	}
	return &View{dir: r.dir, path: r.path, tx: tx, statements: r.statements, names: r.names, anchors: r.anchors, cache: r.newest.of(state), state: state, completions: &r.completions}, nil
}

// State returns the state of the index.
func (v *View) State() State { return v.state }

const selectStemmers = "SELECT name FROM stemmers ORDER BY name"

// Close ends the read transaction.
func (v *View) Close() error {
	if err := v.tx.Rollback(); err != nil && !errors.Is(err, sql.ErrTxDone) {
		return fmt.Errorf("index %s: end of read: %w", v.dir, err)
	}
	return nil
}

const selectMatch = "SELECT rowid FROM fts WHERE fts MATCH ? LIMIT 1"

// stemmers returns the names of the stemmers of the languages of documents. The table also has
// those that no document needs any more.
func (v *View) stemmers(ctx context.Context) (list []string, err error) {
	v.cache.mu.Lock()
	defer v.cache.mu.Unlock()
	if v.cache.stemmers != nil {
		return v.cache.stemmers, nil
	}
	all, err := v.everStemmed(ctx)
	if err != nil {
		return nil, err
	}
	list = []string{}
	for _, name := range all {
		if needed, err := v.needsStemmer(ctx, name); err != nil {
			return nil, err
		} else if needed {
			list = append(list, name)
		}
	}
	v.cache.stemmers = list
	return list, nil
}

// everStemmed returns the names in the table stemmers.
func (v *View) everStemmed(ctx context.Context) (list []string, err error) {
	rows, err := v.query(ctx, selectStemmers)
	err = eachRow(rows, err, func() error {
		var name string
		err := rows.Scan(&name)
		list = append(list, name)
		return err
	})
	return list, err
}

// needsStemmer reports whether some document is in a language of a stemmer. FTS5 stops at the
// first one; the lists of package postings would be read to their ends.
func (v *View) needsStemmer(ctx context.Context, name string) (bool, error) {
	var tags []string
	for _, language := range analysis.StemmerFor(name).Languages() {
		tags = append(tags, query.Phrase{Tokens: analysis.Tag(analysis.TagLang, language)}.String())
	}
	rows, err := v.query(ctx, selectMatch, strings.Join(tags, " OR "))
	if err != nil {
		return false, err
	}
	found := rows.Next()
	return found, errors.Join(rows.Err(), rows.Close())
}
