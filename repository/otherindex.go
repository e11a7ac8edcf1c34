package repository

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"iter"
	"time"

	"go.uber.org/zap"

	"github.com/webindexer/indexer/index"
	"github.com/webindexer/indexer/internal/humanize"
	"github.com/webindexer/indexer/observers"
	"github.com/webindexer/indexer/page"
	"github.com/webindexer/indexer/repository/snapshot"
	"github.com/webindexer/indexer/schema"
	"github.com/webindexer/indexer/txn"
)

// Index is where a repository exports its documents, if not to the index files in its data
// directory (Options.Index): a search server, or index files of another form.
//
// An index remembers the ID that was passed to Next. The repository notes the same ID in
// the store, so it never mixes its documents with those of another repository.
type Index interface {
	// Sink writes to the index that is in use. If the index does not answer for a while,
	// the error wraps notify.ErrUnavailable, and the observers try again.
	observers.Sink
	// Inspect says what the index holds. It also prepares the index for writing.
	Inspect(ctx context.Context) (IndexStatus, error)
	// Snapshot shows everything that was written before.
	Snapshot(ctx context.Context) (IndexView, error)
	// Next begins a new, empty index with the ID id. The current one stays in use.
	Next(ctx context.Context, id string) (NextIndex, error)
}

// IndexStatus says what an Index holds.
type IndexStatus struct {
	ID string // "": there is no index yet
	// Rebuild says why the index has to be rebuilt from the store; "": it need not be.
	Rebuild string
	State   index.State // Documents and Sum
}

// IndexView is one state of an index; *index.View is one. Close it soon.
type IndexView interface {
	State() index.State
	// Entries lists all documents in the order of their clusters.
	Entries(ctx context.Context) iter.Seq2[index.Entry, error]
	// Documents calls fn with all documents, in any order.
	Documents(ctx context.Context, fn func(index.Document) error) error
	// Check checks whatever the index can check about itself.
	Check(ctx context.Context) error
	Close() error
}

// NextIndex is an index that is being built while another is in use. Either Install or
// Discard ends it.
type NextIndex interface {
	observers.Sink
	// Install replaces the index in use with this one, in one step. After an error, the
	// other index is still in use.
	Install(ctx context.Context) error
	Discard(ctx context.Context) error
}

// openOther makes Options.Index and the store match each other, as openIndex does with
// index files.
func (r *Repository) openOther(ctx context.Context, opts Options) error {
	if err := r.leaveFiles(ctx); err != nil {
		return err
	}
	known, err := r.readOtherID(ctx)
	if err != nil {
		return err
	}
	if err := r.noteOtherID(ctx, known); err != nil {
		return err
	}
	have, err := r.other.Inspect(ctx)
	if err != nil {
		return err
	}
	why := have.Rebuild
	switch {
	case opts.Reindex:
	case have.ID == "" && known != "":
		why = "the index is missing"
	case have.ID == "":
	case have.ID != known && have.State.Documents > 0:
		return fmt.Errorf("%w: it holds %s that this store did not export", ErrOtherIndex, humanize.Count(have.State.Documents, "document"))
	case have.ID == known && why == "":
		r.files.use(r.other)
		return r.catchUpOther(ctx, have.State)
	}
	return r.rebuildAtOpen(ctx, why, opts)
}

// leaveFiles records that the index files in the data directory, if any, lack what is
// exported from now on. The next process that opens them compares everything.
func (r *Repository) leaveFiles(ctx context.Context) error {
	if err := r.readWritten(ctx); err != nil || r.wrote.id == "" {
		return err
	}
	return r.noteWritten(ctx, written{id: r.wrote.id, applied: r.wrote.applied, elsewhere: true})
}

// readOtherID returns the ID that the index of this repository must have, or "" if there
// is none yet.
func (r *Repository) readOtherID(ctx context.Context) (string, error) {
	v, err := r.fact(ctx, schema.OtherIndexID)
	return string(v.Data), err
}

// makeOtherID does what readOtherID does, and notes a new ID if there is none. The store
// has the ID before the index does, so an index that a process began before it died is
// never mistaken for the index of another repository.
func (r *Repository) makeOtherID(ctx context.Context) (id string, err error) {
	if id, err = r.readOtherID(ctx); err != nil || id != "" {
		return id, err
	}
	id = rand.Text()
	if err := r.setFact(ctx, schema.OtherIndexID, []byte(id)); err != nil {
		return "", fmt.Errorf("note the identity of the index: %w", err)
	}
	return id, nil
}

// catchUpOther exports to the index what it lacks. As with index files (catchUp), an export
// writes to the index first and to the store afterwards, so something is missing only if the
// index has lost it, for example because an older copy was restored. The sums of the two
// sides show this. They do not cover ranks and times, which are compared only if the sums differ.
func (r *Repository) catchUpOther(ctx context.Context, have index.State) error {
	tx, err := snapshot.Now(ctx, r.db)
	if err != nil {
		return err
	}
	defer tx.Rollback()
	if same, err := r.agrees(ctx, tx, have, nil); err != nil || same {
		return err
	}
	keys, err := r.differingOther(ctx, tx)
	if err != nil {
		return err
	}
	lost, err := r.withoutNotification(ctx, keys, false)
	if err != nil {
		return err
	}
	if err := r.exportTo(ctx, r.other, tx, keys); err != nil {
		return fmt.Errorf("export to the index what it lacks: %w", err)
	}
	if len(lost) > 0 {
		r.repaired.Store(new("the index lacked documents or had old ones"))
		r.log.Warn("the index lacked documents or had old ones, which were exported again", zap.Int("documents", len(lost)))
	}
	return nil
}

func (r *Repository) differingOther(ctx context.Context, tx *txn.Txn) (keys []page.ContentKey, err error) {
	view, err := r.other.Snapshot(ctx)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, view.Close()) }()
	return r.differing(ctx, tx, view, compared{ranks: true, times: true})
}

// rebuildOther does what rebuild does, for Options.Index.
func (r *Repository) rebuildOther(ctx context.Context, told func(clusters int)) (res Reindexed, err error) {
	began := time.Now()
	id, err := r.makeOtherID(ctx)
	if err != nil {
		return res, err
	}
	if err := r.noteOtherID(ctx, id); err != nil {
		return res, err
	}
	next, err := r.other.Next(ctx, id)
	if err != nil {
		return res, fmt.Errorf("begin a new index: %w", err)
	}
	fill := func() error { return r.exportAll(ctx, &r.files, keyRange{}, told) }
	err = r.files.replace(ctx, next, fill, func() (bool, error) { return r.files.installOther(ctx, r.other) })
	if err != nil {
		return res, err
	}
	now, err := r.other.Inspect(ctx)
	if err != nil {
		return res, err
	}
	res.Documents, res.Seconds = now.State.Documents, time.Since(began).Seconds()
	return res, nil
}
