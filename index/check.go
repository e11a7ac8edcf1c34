package index

import (
	"context"
	"errors"
	"fmt"

	"github.com/webindexer/indexer/index/analysis"
)

// agreements lists queries whose result is 0 in a sound index, and says what is wrong if it is not.
var agreements = []struct{ wrong, query string }{
	{"documents without full-text entry", "SELECT count(*) FROM docs WHERE id NOT IN (SELECT id FROM fts_docsize)"},
	{"full-text entries without document", "SELECT count(*) FROM fts_docsize WHERE id NOT IN (SELECT id FROM docs)"},
	{"documents without rank", "SELECT count(*) FROM docs WHERE id NOT IN (SELECT id FROM ranks)"},
	{"ranks without document", "SELECT count(*) FROM ranks WHERE id NOT IN (SELECT id FROM docs)"},
	{"documents without time", "SELECT count(*) FROM docs WHERE id NOT IN (SELECT id FROM times)"},
	{"times without document", "SELECT count(*) FROM times WHERE id NOT IN (SELECT id FROM docs)"},
	{"documents without sketch", "SELECT count(*) FROM docs WHERE id NOT IN (SELECT id FROM sketches)"},
	{"sketches without document", "SELECT count(*) FROM sketches WHERE id NOT IN (SELECT id FROM docs)"},
	{"thumbnails without document", "SELECT count(*) FROM thumbnails WHERE id NOT IN (SELECT id FROM docs)"},
	{"clusters both deleted and present", "SELECT count(*) FROM docs WHERE cluster IN (SELECT cluster FROM tombstones)"},
}

// Check looks for damage. It runs SQLite's integrity check, which also checks the
// full-text index. It compares the tables with each other, every document with its
// checksums, and the full-text entries with what analysis makes of the documents today. It
// reads the whole index. The error wraps [ErrCorrupt] and says what was found.
func (v *View) Check(ctx context.Context) error {
	var found []error
	damage, err := v.integrity(ctx)
	if err != nil {
		return fmt.Errorf("index %s: check: %w", v.dir, err)
	}
	found = append(found, damage...)
	for _, a := range agreements {
		var n int
		if err := v.tx.QueryRowContext(ctx, a.query).Scan(&n); err != nil {
			found = append(found, err)
		} else if n > 0 {
			found = append(found, fmt.Errorf("%d %s", n, a.wrong))
		}
	}
	if n, err := v.checkLengths(ctx); err != nil {
		found = append(found, err)
	} else if n > 0 {
		found = append(found, fmt.Errorf("%d documents whose length differs from that of their full-text entry", n))
	}
	if err := v.checkDocuments(ctx); err != nil {
		found = append(found, err)
	}
	if err := v.checkThumbnails(ctx); err != nil {
		found = append(found, err)
	}
	if ctx.Err() != nil {
		return fmt.Errorf("index %s: check: %w", v.dir, ctx.Err())
	}
	if len(found) == 0 {
		return nil
	}
	return fmt.Errorf("index %s: %w: %s: %w", v.dir, ErrCorrupt, v.path, errors.Join(found...))
}

func (v *View) integrity(ctx context.Context) (damage []error, err error) {
	// FTS5 keeps the structure of the index from one statement to the next. On a
	// connection that was used before another process wrote, the check would compare the
	// current segments with the old structure and report damage that does not exist. Any
	// query of the table in this transaction makes FTS5 read the structure again.
	var n int
	if err := v.tx.QueryRowContext(ctx, "SELECT count(*) FROM fts WHERE rowid=0").Scan(&n); err != nil {
		return []error{err}, nil
	}
	rows, err := v.tx.QueryContext(ctx, "PRAGMA integrity_check(20)")
	if err != nil {
		return nil, err
	}
	err = eachRow(rows, nil, func() error {
		var line string
		err := rows.Scan(&line)
		if err == nil && line != "ok" {
			damage = append(damage, errors.New(line))
		}
		return err
	})
	if err != nil && ctx.Err() == nil {
		damage = append(damage, err)
	}
	return damage, nil
}

// checkDocuments reads every document, which compares its checksums, and then compares the
// sum of all documents.
func (v *View) checkDocuments(ctx context.Context) error {
	var read State
	want := analysed{repeats: make(repeatedTexts)}
	err := v.Documents(ctx, func(d Document) error {
		if err := want.addDocument(&d); err != nil {
			return err
		}
		read.Documents++
		read.Sum.Add(d.Cluster, d.Digest)
		return nil
	})
	if err != nil {
		return err
	}
	m, err := readMeta(ctx, v.tx)
	if err != nil {
		return err
	}
	if have, err := v.storedTerms(ctx); err != nil {
		return err
	} else if have != want.terms && m.analyzer == analysis.Version {
		return errors.New("full-text entries do not match the documents")
	}
	if have, err := v.storedSketches(ctx); err != nil {
		return err
	} else if have != want.sketches && m.analyzer == analysis.Version {
		return errors.New("sketches do not match the documents")
	}
	if have, err := v.storedHeadings(ctx); err != nil {
		return err
	} else if have != want.headings {
		return errors.New("headings do not match the documents")
	}
	if same, err := v.sameRepeats(ctx, want.repeats); err != nil {
		return err
	} else if !same && m.analyzer == analysis.Version {
		return errors.New("counts of repeated text do not match the documents")
	}
	if read.Documents != v.state.Documents || read.Sum != v.state.Sum {
		return fmt.Errorf("the %d documents are not the %d that were written", read.Documents, v.state.Documents)
	}
	return nil
}
