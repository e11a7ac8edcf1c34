package index

import (
	"context"
	"fmt"
	"strconv"
	"time"
)

// Rebuild analyses every stored document again, from its stored text, and then
// stamps the index with this program's analyzer version. Changes may be applied
// meanwhile. When it is interrupted, nothing is lost and it is to be run again.
func (w *Writer) Rebuild(ctx context.Context) error {
	var last int64
	for {
		done := false
		err := w.submit(ctx, groupSize, func(t *tables) (err error) {
			last, done, err = t.rebuildSome(last)
			return err
		})
		if err != nil {
			return fmt.Errorf("rebuild: %w", err)
		}
		if done {
			w.needsRebuild.Store(false)
			return nil
		}
	}
}

// rebuildStep bounds how long a rebuild keeps others waiting: once it is over, a
// transaction takes no further document.
const rebuildStep = 50 * time.Millisecond

// rebuildSome goes on after id last. At the end it stamps the analyzer version,
// in the same transaction as the last documents.
func (t *tables) rebuildSome(last int64) (next int64, done bool, err error) {
	for begun := time.Now(); time.Since(begun) < rebuildStep; {
		var d Document
		var head, rest, anchors []byte
		found, err := t.row("SELECT id, url, language, title, anchors, head, rest FROM docs WHERE id>? ORDER BY id LIMIT 1",
			[]any{last}, &last, &d.URL, &d.Language, &d.Title, &anchors, &head, &rest)
		if err != nil {
			return last, false, err
		}
		if !found {
			return last, true, t.exec("UPDATE meta SET value=? WHERE key=?", strconv.Itoa(AnalyzerVersion), metaAnalyzer)
		}
		if d.Text, err = unpack(head, rest); err == nil {
			err = fromJSON(anchors, &d.Anchors)
		}
		if err != nil {
			return last, false, fmt.Errorf("%s: %w", d.URL, err)
		}
		if err := t.addStemmer(stemmerFor(d.Language)); err != nil {
			return last, false, err
		}
		c := analyze(&d)
		t.fullText[last] = &c
		words := spelledWords(&d)
		if err := t.addWords(&words); err != nil {
			return last, false, err
		}
	}
	return last, false, nil
}
