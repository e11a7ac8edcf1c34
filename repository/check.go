package repository

import (
	"context"

	"indexer/notify"
	"indexer/txn"
)

// CheckReport is what a check found.
type CheckReport struct {
	Checked txn.Checked `json:"checked"`
	// Problems are the first of them; Total counts all.
	Problems []txn.Problem `json:"problems"`
	Total    int           `json:"total"`
}

// maxProblems bounds a report: one damaged byte can make many.
const maxProblems = 1000

// Check looks whether the records of the store fit each other and the schema, at one
// instant, and computes nothing anew.
func (r *Repository) Check(ctx context.Context) (*CheckReport, error) {
	rep := &CheckReport{Problems: []txn.Problem{}}
	var err error
	rep.Checked, err = r.db.Check(ctx, txn.CheckOptions{Row: CheckRow, Observes: r.observes}, func(p txn.Problem) {
		rep.Total++
		if len(rep.Problems) < maxProblems {
			p.Row = RowText(p.Group, p.Row)
			rep.Problems = append(rep.Problems, p)
		}
	})
	return rep, err
}

func (r *Repository) observes(c txn.Column, observer string) (watches, strong bool) {
	for _, o := range r.registry.List() {
		if o.Name == observer {
			return o.Watches == c, !o.Weak
		}
	}
	return false, false
}

// DeadLetters lists the rows that observers gave up on. Those that cannot be read
// are named in the error.
func (r *Repository) DeadLetters(ctx context.Context) ([]notify.Letter, error) {
	return notify.DeadLetters(ctx, r.db)
}

// RetryDead runs an observer again on a row that it gave up on; Quiesce waits for it.
func (r *Repository) RetryDead(ctx context.Context, observer, row string) error {
	return r.pipeline.Retry(ctx, observer, row)
}

// DropDead forgets that an observer gave up on a row.
func (r *Repository) DropDead(ctx context.Context, observer, row string) error {
	return r.pipeline.Drop(ctx, observer, row)
}

// LetterRow is the row of a letter for people.
func (r *Repository) LetterRow(l notify.Letter) string {
	for _, o := range r.registry.List() {
		if o.Name == l.Observer {
			return RowText(o.Watches.Group, l.Row)
		}
	}
	return RowText("", l.Row)
}
