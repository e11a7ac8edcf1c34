package index

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"github.com/webindexer/indexer/index/analysis"
	"github.com/webindexer/indexer/index/spelling"
)

// tables is the writer's connection with its prepared statements. Only the writer goroutine
// uses it. Its statements run without a deadline: they are short, and a context that can be
// cancelled costs the driver a goroutine each.
type tables struct {
	conn *sql.Conn
	stmt map[string]*sql.Stmt

	known      map[string]bool // names in the table stemmers, committed or in this transaction
	lastID     int64           // highest id given out; 0: ask the table
	state      State           // including this transaction
	saved      State           // as of the last commit
	firstAdded int64           // lowest id of the documents that this transaction adds, 0 if none (indexedat.go)

	// fullText has the changes that the transaction will make to the table fts
	// (fulltext.go).
	fullText map[int64]*analysis.Columns

	vocabulary *spelling.Vocabulary // the words that are stored; the callers of Apply also read it
	words      storedWords

	repeats repeatedTexts // changes that the transaction will make to the table repeats
}

func openTables(ctx context.Context, db *sql.DB) (*tables, error) {
	conn, err := db.Conn(ctx)
	if err != nil {
		return nil, err
	}
	t := &tables{conn: conn, stmt: make(map[string]*sql.Stmt), known: make(map[string]bool), fullText: make(map[int64]*analysis.Columns), vocabulary: new(spelling.Vocabulary), repeats: make(repeatedTexts)}
	if err := t.setMerging(); err != nil {
		return t, err
	}
	t.saved, err = scanState(conn.QueryRowContext(ctx, selectState).Scan)
	t.state = t.saved
	return t, err
}

func (t *tables) close() error {
	var errs []error
	for _, s := range t.stmt {
		errs = append(errs, s.Close())
	}
	return errors.Join(append(errs, t.conn.Close())...)
}

// begin takes the write lock at once, so that no later statement has to wait for it.
func (t *tables) begin() error { return t.exec("BEGIN IMMEDIATE") }

func (t *tables) commit() error {
	if err := t.flushWords(); err != nil { // also before any row of fts (fulltext.go)
		return err
	}
	if err := t.flushRepeats(); err != nil { // likewise
		return err
	}
	if err := t.flushFullText(); err != nil {
		return err
	}
	if err := t.setIndexedAt(time.Now()); err != nil {
		return err
	}
	if err := t.putState(); err != nil {
		return err
	}
	if err := t.exec("COMMIT"); err != nil {
		return err
	}
	t.saved = t.state
	return nil
}

func (t *tables) rollback() error {
	clear(t.known)
	clear(t.fullText)
	clear(t.repeats)
	t.forgetWords()
	t.lastID, t.firstAdded, t.state = 0, 0, t.saved
	if err := t.exec("ROLLBACK"); err != nil {
		// Some failures (disk full) have rolled back already.
		if perr := t.conn.PingContext(context.Background()); perr != nil {
			return fmt.Errorf("rollback: %w", errors.Join(err, perr))
		}
	}
	return nil
}

func (t *tables) prepare(query string) (*sql.Stmt, error) {
	if s := t.stmt[query]; s != nil {
		return s, nil
	}
	s, err := t.conn.PrepareContext(context.Background(), query)
	if err != nil {
		return nil, fmt.Errorf("prepare %q: %w", query, err)
	}
	t.stmt[query] = s
	return s, nil
}

func (t *tables) exec(query string, args ...any) error {
	s, err := t.prepare(query)
	if err != nil {
		return err
	}
	_, err = s.ExecContext(context.Background(), args...)
	return err
}

// row scans the one row of a query into dest and reports whether there was one.
func (t *tables) row(query string, args []any, dest ...any) (bool, error) {
	s, err := t.prepare(query)
	if err != nil {
		return false, err
	}
	err = s.QueryRowContext(context.Background(), args...).Scan(dest...)
	if errors.Is(err, sql.ErrNoRows) {
		return false, nil
	}
	return err == nil, err
}

// addStemmer records that the index has documents in the language of this stemmer.
func (t *tables) addStemmer(st *analysis.Stemmer) error {
	if st == nil || t.known[st.Name] {
		return nil
	}
	if err := t.exec("INSERT OR IGNORE INTO stemmers(name) VALUES(?)", st.Name); err != nil {
		return err
	}
	t.known[st.Name] = true
	return nil
}

// newID returns an id that no document has. Each id is greater than the last one, so that
// new documents are appended to every table.
func (t *tables) newID() (int64, error) {
	if t.lastID == 0 {
		if _, err := t.row("SELECT coalesce(max(id), 0) FROM docs", nil, &t.lastID); err != nil {
			return 0, err
		}
	}
	t.lastID++
	return t.lastID, nil
}
