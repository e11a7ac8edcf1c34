package relevancebench

import (
	"context"
	"database/sql"
	"errors"
	"strings"

	_ "modernc.org/sqlite" // the driver

	"github.com/webindexer/indexer/index"
	"github.com/webindexer/indexer/index/analysis"
	"github.com/webindexer/indexer/page"
)

// plain is a straightforward use of FTS5: the titles and texts of the same documents, the
// tokenizer for English that comes with it, and its bm25() with a weight for titles.
type plain struct{ db *sql.DB }

const (
	plainSchema = `CREATE VIRTUAL TABLE docs USING fts5(title, text, url UNINDEXED, language UNINDEXED, tokenize='porter unicode61')`
	plainSearch = `SELECT url, language, snippet(docs, 1, '', '', '…', 40) FROM docs WHERE docs MATCH ? ORDER BY bm25(docs, 10.0, 1.0), url LIMIT 10`
)

// openPlain copies the documents of an index into a new file.
func openPlain(ctx context.Context, r *index.Reader, path string) (_ *plain, err error) {
	db, err := sql.Open("sqlite", path)
	if err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, db.Close())
		}
	}()
	if _, err := db.ExecContext(ctx, plainSchema); err != nil {
		return nil, err
	}
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return nil, err
	}
	err = r.Documents(ctx, func(d index.Document) error {
		_, err := tx.ExecContext(ctx, "INSERT INTO docs(title, text, url, language) VALUES(?,?,?,?)", d.Title, d.Text, string(d.URL), d.Language)
		return err
	})
	if err != nil {
		return nil, errors.Join(err, tx.Rollback())
	}
	return &plain{db}, tx.Commit()
}

func (p *plain) close() error { return p.db.Close() }

// answer is the documents with all the words and then, if those are fewer than ten, the
// documents with some of them.
func (p *plain) answer(ctx context.Context, query string) ([]shown, error) {
	words := plainWords(query)
	if len(words) == 0 {
		return nil, nil
	}
	list, err := p.search(ctx, strings.Join(words, " "))
	if err != nil || len(list) == 10 {
		return list, err
	}
	some, err := p.search(ctx, strings.Join(words, " OR "))
	seen := make(map[page.URL]bool)
	for _, h := range list {
		seen[h.url] = true
	}
	for _, h := range some {
		if !seen[h.url] && len(list) < 10 {
			list = append(list, h)
		}
	}
	return list, err
}

// plainWords are the words of a query in quotes, without stop words if there are others.
func plainWords(query string) (words []string) {
	var stops []string
	for _, f := range strings.Fields(query) {
		quoted := `"` + strings.ReplaceAll(f, `"`, `""`) + `"`
		if analysis.IsStopWord(strings.ToLower(f), "") {
			stops = append(stops, quoted)
		} else {
			words = append(words, quoted)
		}
	}
	if len(words) == 0 {
		return stops
	}
	return words
}

func (p *plain) search(ctx context.Context, match string) (list []shown, err error) {
	rows, err := p.db.QueryContext(ctx, plainSearch, match)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	for rows.Next() {
		var h shown
		if err := rows.Scan(&h.url, &h.language, &h.snippet); err != nil {
			return nil, err
		}
		list = append(list, h)
	}
	return list, rows.Err()
}
