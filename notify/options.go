package notify

import "time"

// Options are the options of a Pipeline. A field that is zero or negative takes its
// default.
type Options struct {
	// Workers is the number of workers; 4 by default.
	Workers int
	// Attempts is the number of attempts at a row before it becomes a dead letter; 12 by
	// default. Conflicts do not count, because they end by themselves. A transaction that
	// is too large (txn.ErrTooLarge) gets one attempt, because the next would be as
	// large.
	Attempts int
	// Backlog is the number of waiting rows above which Admit waits; 2,000 by default, and at most
	// Capacity. It bounds how far loaders run ahead of the observers.
	Backlog int
	// MaxWait is the age of the oldest row that only needs a worker above which Admit waits; 1 s
	// by default. It bounds how long a loaded row waits for the observers, however slow they are.
	// Backlog cannot bound that: on a machine that is busy with other work, 2,000 rows take a
	// minute.
	MaxWait time.Duration
	// Capacity is the number of rows kept in memory; 200,000 by default. Further
	// notifications stay in the table only, and a scan finds them when there is room. A
	// row takes about 300 bytes, and its key.
	Capacity int
	// Rescan is how often the pipeline scans for notifications that were not handed
	// over; 5 min by default.
	Rescan time.Duration
	// Leases decide which observers with a Lease this process runs, if several processes
	// share the table. nil: none.
	Leases Leases
	// Events are callbacks; nil ones are skipped. They must not block.
	Events Events
}

// Events are callbacks for logs, metrics and tests. Workers call them, several at a
// time.
type Events struct {
	// Ran: a run has committed, for this number of rows.
	Ran func(observer string, rows int, took time.Duration)
	// Tried: a run has ended, committed or not. It is called before the other events.
	Tried func(Attempt)
	// Conflict: a run had a conflict, or its outcome is unknown; it will be
	// repeated.
	Conflict func(observer string, rows []string, err error)
	// Failed: a run failed. attempt counts from 1 for a single row; a batch that
	// fails is halved first.
	Failed func(observer string, rows []string, attempt int, err error)
	// Dead: the row is in the dead letters.
	Dead func(observer, row string, err error)
	// StoreFailed: a scan of the table for notifications failed, and will be repeated. Only
	// on a table that several processes share.
	StoreFailed func(err error)
	// Orphaned: a notification of an observer that does not exist was removed.
	Orphaned func(observer, row string)
}

func (o Options) withDefaults() Options {
	setDefault(&o.Workers, 4)
	setDefault(&o.Attempts, 12)
	setDefault(&o.Backlog, 2000)
	setDefault(&o.Capacity, 200_000)
	setDefault(&o.MaxWait, time.Second)
	setDefault(&o.Rescan, 5*time.Minute)
	o.Backlog = min(o.Backlog, o.Capacity) // the queue never holds more
	return o
}

func setDefault[T int | time.Duration](v *T, d T) {
	if *v <= 0 {
		*v = d
	}
}
