package notify

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"indexer/txn"
)

// DeadGroup is the locality group of the dead letters; an application that uses
// this package opens its table with it.
const DeadGroup = "dead"

// deadColumn holds a letter; deadRow is its row.
var deadColumn = txn.Column{Group: DeadGroup, Name: "letter"}

// Letter is a row that an observer gave up on.
type Letter struct {
	Observer string    `json:"observer"`
	Row      string    `json:"row"`
	Error    string    `json:"error"`    // of the last attempt; the first 4 KiB
	Attempts int       `json:"attempts"` // that failed
	Time     time.Time `json:"time"`     // of giving up
}

// storedLetter keeps the row as bytes: in a JSON string, rows that are not UTF-8
// would come back as others.
type storedLetter struct {
	Observer string    `json:"observer"`
	Row      []byte    `json:"row"`
	Error    string    `json:"error"`
	Attempts int       `json:"attempts"`
	Time     time.Time `json:"time"`
}

const (
	maxLetterError = 4 << 10
	// maxPlainRow: a letter's key may be no longer than the store's keys, or the
	// row that trips an observer could never be set aside. Beyond this length a
	// hash stands for the rest of the row.
	maxPlainRow = 1 << 10
)

// deadRow is where the letter is: the observer's name, a zero byte, the row.
func deadRow(observer, row string) string {
	if len(row) > maxPlainRow {
		sum := sha256.Sum256([]byte(row))
		row = row[:maxPlainRow] + hex.EncodeToString(sum[:])
	}
	return observer + "\x00" + row
}

func encodeLetter(l Letter) ([]byte, error) {
	l.Error = strings.ToValidUTF8(l.Error, "?")
	if len(l.Error) > maxLetterError {
		l.Error = strings.ToValidUTF8(l.Error[:maxLetterError], "")
	}
	b, err := json.Marshal(storedLetter{l.Observer, []byte(l.Row), l.Error, l.Attempts, l.Time})
	if err != nil {
		return nil, fmt.Errorf("notify: encode dead letter: %w", err)
	}
	return b, nil
}

func decodeLetter(b []byte) (Letter, error) {
	var s storedLetter
	if err := json.Unmarshal(b, &s); err != nil {
		return Letter{}, err
	}
	return Letter{s.Observer, string(s.Row), s.Error, s.Attempts, s.Time}, nil
}

// DeadLetters lists all letters, by observer and row. Those that cannot be read
// are left out, and named in the error.
func DeadLetters(ctx context.Context, db *txn.DB) ([]Letter, error) {
	tx, err := db.Begin(ctx)
	if err != nil {
		return nil, fmt.Errorf("notify: list dead letters: %w", err)
	}
	defer tx.Rollback()
	var (
		letters []Letter
		broken  []error
	)
	err = tx.Scan(ctx, DeadGroup, "", "", func(key string, cols []txn.Version) error {
		l, err := decodeLetter(cols[0].Data)
		if err != nil {
			broken = append(broken, fmt.Errorf("notify: dead letter %q: %w", strings.ReplaceAll(key, "\x00", " "), err))
			return nil
		}
		letters = append(letters, l)
		return nil
	})
	if err != nil {
		broken = append(broken, fmt.Errorf("notify: list dead letters: %w", err))
	}
	return letters, errors.Join(broken...)
}
