package repository

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"go.uber.org/zap"

	"github.com/webindexer/indexer/index"
	"github.com/webindexer/indexer/internal/humanize"
	"github.com/webindexer/indexer/schema"
	"github.com/webindexer/indexer/store"
	"github.com/webindexer/indexer/txn"
)

// ErrOtherIndex means that the index files hold documents of another repository than the store.
// Nothing was changed.
var ErrOtherIndex = errors.New("the index belongs to another repository")

// openIndex opens the index files, and ensures that this repository wrote them and that they hold
// what it wrote. No part of the pipeline runs yet.
//
// Files become ours (IndexID) before the first document is written to them. So documents in
// files that are not ours are never the result of a crash: a user has put the files there,
// or has deleted their store, and they may be the only copy. Open leaves them alone and
// returns ErrOtherIndex. Rejected: emptying them and exporting again.
//
// Files that are missing, or of an older format or analysis, are made from the store. Files
// that are behind the store get what they lack (catchUp). Damaged files are an error,
// because the user may want to examine them first.
func (r *Repository) openIndex(ctx context.Context, opts Options) error {
	r.repaired.Store(nil)
	if r.other != nil {
		return r.openOther(ctx, opts)
	}
	r.files.dir, r.files.opts = IndexDir(r.dir), index.WriterOptions{Sync: opts.Sync}
	if err := r.readWritten(ctx); err != nil {
		return err
	}
	why, err := r.openFiles(ctx)
	switch {
	case opts.Reindex && (err == nil || canReplace(err)):
		r.replaceStranger = errors.Is(err, index.ErrForeign) || errors.Is(err, ErrOtherIndex)
		why = ""
	case err != nil:
		return err
	case why == "":
		return r.catchUp(ctx)
	}
	if err := r.files.close(); err != nil && !opts.Reindex {
		return err
	}
	return r.rebuildAtOpen(ctx, why, opts)
}

// rebuildAtOpen makes the index again from the store. why says why that is necessary; "" means
// that only the options ask for it.
func (r *Repository) rebuildAtOpen(ctx context.Context, why string, opts Options) error {
	if why != "" {
		r.repaired.Store(&why)
		r.log.Warn(why + "; the index is rebuilt from the store")
	}
	res, err := r.rebuild(ctx, opts.Told)
	if err != nil {
		return err
	}
	if why != "" {
		r.log.Warn("the index is complete", zap.Int("documents", res.Documents))
	}
	if opts.Reindex {
		r.rebuilt = &res
	}
	return nil
}

// canReplace reports whether an error concerns index files that the user may choose to replace.
func canReplace(err error) bool {
	for _, e := range []error{index.ErrForeign, index.ErrNewerFormat, index.ErrOldFormat, ErrOtherIndex} {
		if errors.Is(err, e) {
			return true
		}
	}
	return index.IsDamage(err)
}

// openFiles opens index files that are ours. If all of them have to be made again, it says why.
func (r *Repository) openFiles(ctx context.Context) (why string, err error) {
	known := r.wrote.id
	if known != "" && !index.Exists(r.files.dir) {
		return "the index files are missing", nil
	}
	err = r.files.open(ctx)
	if errors.Is(err, index.ErrOldFormat) {
		return "the index files are of an older format", nil
	}
	if err != nil {
		return "", fmt.Errorf("open the index files: %w", err)
	}
	w := r.files.own
	switch n := w.Opened().Documents; {
	case w.ID() == known || known != "" && w.Succeeds() == known:
	case n > 0:
		return "", fmt.Errorf("%w: %s holds %s that this store did not write", ErrOtherIndex, r.files.dir, humanize.Count(n, "document"))
	case known == "":
		other, err := r.readOtherID(ctx)
		if err != nil {
			return "", err
		}
		return "", r.noteWritten(ctx, written{id: w.ID(), elsewhere: other != ""})
	default:
		return "the index files are empty", nil
	}
	if w.NeedsRebuild() {
		return "the index files were made by another version of this program, which reads texts in another way", nil
	}
	return "", nil
}

// written says which index files this repository writes, and the least that they must have applied.
type written struct {
	id      string // "": none yet
	applied uint64
	// elsewhere says that documents were exported to another index in the meantime
	// (Options.Index).
	elsewhere bool
}

// cell returns the content of the cell IndexID.
func (w *written) cell() []byte {
	if w.elsewhere {
		return fmt.Appendf(nil, "%s %d %s", w.id, w.applied, wroteElsewhere)
	}
	return fmt.Appendf(nil, "%s %d", w.id, w.applied)
}

const wroteElsewhere = "elsewhere"

// parseWritten reads what cell wrote. The oldest stores have only the id, and later ones had
// two more numbers after an orderly close.
func parseWritten(cell string) (w written, err error) {
	fields := strings.Split(cell, " ")
	w.id = fields[0]
	numbers := fields[1:]
	if len(fields) == 3 && fields[2] == wroteElsewhere {
		w.elsewhere, numbers = true, fields[1:2]
	}
	for i, text := range numbers {
		n, err := strconv.ParseUint(text, 10, 64)
		if err != nil {
			return w, err
		}
		if i == 0 {
			w.applied = n
		}
	}
	if n := len(numbers); n > 3 || n == 2 {
		return w, fmt.Errorf("%d fields", len(fields))
	}
	return w, nil
}

// RecordedFilesID returns the ID of the index files that a shared store has written, or "" if it has
// written none. It needs no oracle.
func RecordedFilesID(ctx context.Context, table store.Reader) (id string, err error) {
	err = txn.EachCommitted(ctx, table, schema.IndexID, schema.AppRow, func(_ string, cell []byte) error {
		w, err := parseWritten(string(cell))
		id = w.id
		return err
	})
	return id, err
}

// readWritten reads what noteWritten wrote.
func (r *Repository) readWritten(ctx context.Context) error {
	v, err := r.fact(ctx, schema.IndexID)
	if err != nil || !v.Exists {
		return err
	}
	if r.wrote, err = parseWritten(string(v.Data)); err != nil {
		return fmt.Errorf("cell %s: %w: %w", schema.IndexID.Name, store.ErrCorrupt, err)
	}
	return nil
}

func (r *Repository) noteWritten(ctx context.Context, w written) error {
	if w == r.wrote {
		return nil
	}
	if err := r.setFact(ctx, schema.IndexID, w.cell()); err != nil {
		return fmt.Errorf("note what the index files have: %w", err)
	}
	r.wrote = w
	return nil
}

// noteApplied records the state of the index files, after the last writer has ended.
func (r *Repository) noteApplied(ctx context.Context) error {
	w := r.files.own
	if w == nil || w.ID() != r.wrote.id || w.Behind() != nil {
		return nil
	}
	return r.noteWritten(ctx, written{id: w.ID(), applied: w.Applied()})
}
