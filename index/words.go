package index

import (
	"context"
	"database/sql"
	"fmt"

	"github.com/webindexer/indexer/index/spelling"
)

// The words for suggestions are stored as lists. A transaction appends its new words to the
// last row, or begins another row if the last one is long. So new words cost the writer one
// row and no search, however many they are. The writer knows the stored words, as hashes in
// memory: it reads all rows when it begins, or when the first new word comes after a
// transaction that was rolled back. That is 2 MB for 200,000 words. (The callers of Apply
// pass over words that they find there. If the transaction that stored a word is rolled back
// for good, the word waits for another document that has it.)
//
// If there are many, reading them would take longer than the first transaction. That transaction is
// then committed without its words, and a second one stores them once the stored words have been
// read (catchUpWords). If the process is killed in between, or the second one fails, those words
// wait for another document that has them.
const wordsSQL = `
CREATE TABLE words(id INTEGER PRIMARY KEY, list BLOB NOT NULL); -- lines of package spelling
`

// No more words are appended to a row of wordsRow bytes or more.
const wordsRow = 4000

// Stored words of up to readFirst bytes are read before the first transaction: that takes
// some milliseconds.
const readFirst = 256 << 10

const selectWords = "SELECT list FROM words ORDER BY id"

// storedWords is what the writer knows about the stored words.
type storedWords struct {
	read   bool   // tables.vocabulary has what is stored
	fresh  []byte // the lines that this transaction adds
	lastID int64  // of the last row; 0 if there is none
	last   []byte // its content, including this transaction

	postpone bool             // until the stored words are read
	later    []spelling.Words // of transactions until then
}

// addWords stores words for suggestions.
func (t *tables) addWords(words *spelling.Words) error {
	if len(words.Named)+len(words.Text) == 0 {
		return nil
	}
	if t.words.postpone {
		t.words.later = append(t.words.later, *words)
		return nil
	}
	if !t.words.read {
		if err := t.readWords(); err != nil {
			return fmt.Errorf("read words: %w", err)
		}
	}
	for _, w := range t.vocabulary.Add(words) {
		t.words.fresh = spelling.AppendLine(t.words.fresh, w)
	}
	return nil
}

// beginWords reads the stored words, or postpones reading if there are many.
func (t *tables) beginWords() error {
	var size int64
	if _, err := t.row("SELECT coalesce(sum(length(list)), 0) FROM words", nil, &size); err != nil {
		return err
	}
	if size > readFirst {
		t.words.postpone = true
		return nil
	}
	return t.readWords()
}

// catchUpWords reads the stored words, if that was postponed, and stores the words that came
// meanwhile. If reading fails, the next change that has a new word reads them, or gets the error.
func (w *Writer) catchUpWords() error {
	words := &w.tx.words
	if !words.postpone {
		return nil
	}
	later := words.later
	words.postpone, words.later = false, nil
	if err := w.tx.readWords(); err != nil || len(later) == 0 {
		return err
	}
	return w.transaction([]*request{{run: func(t *tables) error {
		for i := range later {
			if err := t.addWords(&later[i]); err != nil {
				return err
			}
		}
		return nil
	}}})
}

func (t *tables) readWords() error {
	s, err := t.prepare("SELECT id, list FROM words ORDER BY id")
	if err != nil {
		return err
	}
	rows, err := s.QueryContext(context.Background())
	var list []byte
	err = eachRow(rows, err, func() error {
		err := rows.Scan(&t.words.lastID, &t.words.last)
		list = append(list, t.words.last...)
		return err
	})
	if err != nil {
		return err
	}
	t.vocabulary.Know(list)
	t.words.read = true
	return nil
}

// flushWords writes the words that the transaction adds.
func (t *tables) flushWords() error {
	v := &t.words
	if len(v.fresh) == 0 {
		return nil
	}
	if v.lastID == 0 || len(v.last) >= wordsRow {
		v.lastID, v.last = v.lastID+1, nil
	}
	v.last = append(v.last, v.fresh...)
	v.fresh = v.fresh[:0]
	return t.exec("INSERT OR REPLACE INTO words(id, list) VALUES(?,?)", v.lastID, v.last)
}

// forgetWords drops what the writer knows about the words when a transaction is rolled back.
func (t *tables) forgetWords() {
	t.vocabulary.Reset()
	t.words = storedWords{}
}

// words returns the stored words.
func (v *View) words(ctx context.Context) (*spelling.List, error) {
	v.cache.mu.Lock()
	defer v.cache.mu.Unlock()
	if v.cache.words != nil {
		return v.cache.words, nil
	}
	var list []byte
	rows, err := v.query(ctx, selectWords)
	err = eachRow(rows, err, func() error {
		var part sql.RawBytes // valid until the next row
		err := rows.Scan(&part)
		list = append(list, part...)
		return err
	})
	if err != nil {
		return nil, err
	}
	v.cache.words = spelling.NewList(list)
	return v.cache.words, nil
}
