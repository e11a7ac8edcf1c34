package repository

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/webindexer/indexer/index"
	"github.com/webindexer/indexer/lease"
	"github.com/webindexer/indexer/notify"
	"github.com/webindexer/indexer/page"
	"github.com/webindexer/indexer/repository/inspect"
	"github.com/webindexer/indexer/repository/snapshot"
	"github.com/webindexer/indexer/txn"
)

// CheckReport is the result of a check.
type CheckReport struct {
	Checked txn.Checked `json:"checked"`
	// Problems has the first problems; Total counts all.
	Problems []txn.Problem `json:"problems"`
	Total    int           `json:"total"`
	Index    IndexReport   `json:"index"`
}

// IndexReport is the result of a check of the index files.
type IndexReport struct {
	Documents int      `json:"documents"`          // documents in the index files
	Repaired  string   `json:"repaired,omitempty"` // see [Repository.Repaired]
	Problems  []string `json:"problems"`
}

// maxProblems bounds a report, because one damaged byte can cause many problems.
const maxProblems = 1000

// Repaired says what was wrong with the index files when they were opened, and was repaired from the
// store; "": nothing.
func (r *Repository) Repaired() string {
	if repaired := r.repaired.Load(); repaired != nil {
		return *repaired
	}
	return ""
}

// Check checks, at one moment, that the records of the store are consistent with each other
// and with the schema, that the index files are sound, and that they contain what the store
// says. It does not recompute documents; package verify does. It calls tell with its progress.
func (r *Repository) Check(ctx context.Context, tell func(format string, args ...any)) (*CheckReport, error) {
	rep := &CheckReport{Problems: []txn.Problem{}}
	var err error
	rep.Checked, err = r.db.Check(ctx, txn.CheckOptions{
		Row: inspect.CheckRow, Observes: r.observes,
		Progress: func(c txn.Checked) { tell("checking the store: %d records so far", c.Records) },
	}, func(p txn.Problem) {
		rep.Total++
		if len(rep.Problems) < maxProblems {
			p.Row = inspect.RowText(p.Group, p.Row)
			rep.Problems = append(rep.Problems, p)
		}
	})
	if err != nil {
		return rep, err
	}
	rep.Index.Problems = []string{}
	rep.Index.Repaired = r.Repaired()
	here, err := r.hasIndex(ctx)
	if err == nil && here {
		tell("the store is checked; checking the index")
		err = r.checkIndex(ctx, &rep.Index)
	}
	if err == nil {
		err = r.checkMissing(ctx, &rep.Index)
	}
	return rep, err
}

// checkMissing checks that there are index files in the directory of this process, if it is one in which a
// process keeps index files for those that share the table. (Otherwise, opening the files finds out.)
func (r *Repository) checkMissing(ctx context.Context, rep *IndexReport) error {
	if !r.shared() || r.other != nil {
		return nil
	}
	here, err := r.place()
	if err != nil {
		return err
	}
	check := func(h *lease.Holder, dir string) {
		if h != nil && h.Place.SameDirectory(here) && !index.Exists(dir) {
			rep.Problems = append(rep.Problems, dir+": the index files are missing: `indexer reindex` rebuilds them from the store")
		}
	}
	if r.shards == nil {
		h, err := r.IndexHolder(ctx)
		check(h, IndexDir(r.dir))
		return err
	}
	all, err := r.Shards(ctx)
	for i, s := range all {
		check(s.Holder, r.shards.list[i].files.dir)
	}
	return err
}

// indexLooks is how often the index files are compared with the store. A difference that
// does not last comes from a running export.
const indexLooks = 3

// checkIndex checks the index files.
func (r *Repository) checkIndex(ctx context.Context, rep *IndexReport) error {
	found := func(err error) error {
		if index.IsDamage(err) || errors.Is(err, index.ErrBehind) || errors.Is(err, index.ErrForeign) || errors.Is(err, index.ErrNoIndex) {
			rep.Problems = append(rep.Problems, strings.Split(err.Error(), "\n")...)
			return nil
		}
		return err
	}
	var suspects []page.ContentKey
	for look := range indexLooks {
		differ, documents, err := r.lookAtIndex(ctx, look == 0)
		if err != nil {
			return found(err)
		}
		rep.Documents = documents
		if look > 0 {
			differ = inBoth(differ, suspects)
		}
		if suspects, err = r.withoutNotification(ctx, differ, true); err != nil || len(suspects) == 0 {
			return err
		}
	}
	for i, k := range suspects {
		if i == maxProblems {
			rep.Problems = append(rep.Problems, fmt.Sprintf("and %d more documents", len(suspects)-i))
			break
		}
		rep.Problems = append(rep.Problems, fmt.Sprintf("cluster %x: its document differs from what the store has exported", k[:6]))
	}
	return nil
}

// inBoth returns the clusters of a that are also in b. All of an index may differ.
func inBoth(a, b []page.ContentKey) []page.ContentKey {
	in := make(map[page.ContentKey]bool, len(b))
	for _, k := range b {
		in[k] = true
	}
	return slices.DeleteFunc(a, func(k page.ContentKey) bool { return !in[k] })
}

// lookAtIndex compares the current index files with the store, and checks the files if
// check is set.
func (r *Repository) lookAtIndex(ctx context.Context, check bool) (differ []page.ContentKey, documents int, err error) {
	view, err := r.viewIndex(ctx)
	if err != nil {
		return nil, 0, err
	}
	defer func() { err = errors.Join(err, view.Close()) }()
	if check {
		if err := view.Check(ctx); err != nil {
			return nil, 0, err
		}
	}
	tx, err := snapshot.Now(ctx, r.db)
	if err != nil {
		return nil, 0, err
	}
	defer tx.Rollback()
	differ, err = r.differing(ctx, tx, view, compared{ranks: true})
	return differ, view.State().Documents, err
}

func (r *Repository) observes(c txn.Column, observer string) (watches, strong bool) {
	for _, o := range r.registry.List() {
		if o.Name == observer {
			return o.Watches == c, !o.Weak
		}
	}
	return false, false
}

// DeadLetters lists the rows that observers gave up on. The error names those that cannot
// be read.
func (r *Repository) DeadLetters(ctx context.Context) ([]notify.DeadLetter, error) {
	return notify.DeadLetters(ctx, r.db)
}

// RetryDead makes an observer run again on a row that it gave up on. Quiesce waits for that
// run.
func (r *Repository) RetryDead(ctx context.Context, observer, row string) error {
	return r.pipeline.Retry(ctx, observer, row)
}

// DropDead forgets that an observer gave up on a row.
func (r *Repository) DropDead(ctx context.Context, observer, row string) error {
	return r.pipeline.Drop(ctx, observer, row)
}

// LetterRow returns the row of a dead letter as text.
func (r *Repository) LetterRow(l notify.DeadLetter) string { return r.rowText(l.Observer, l.Row) }

// rowText returns a row that an observer watches as text.
func (r *Repository) rowText(observer, row string) string {
	for _, o := range r.registry.List() {
		if o.Name == observer {
			return inspect.RowText(o.Watches.Group, row)
		}
	}
	return inspect.RowText("", row)
}
