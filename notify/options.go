package notify

import "time"

// Options of a Pipeline. Fields that are zero or less take the default named
// with them.
type Options struct {
	// Workers run observers; 4.
	Workers int
	// Attempts at one row before it goes to the dead letters; 12. Conflicts do
	// not count: they are nobody's fault and end. A transaction that is too large
	// (txn.ErrTooLarge) gets one attempt: it would be as large again.
	Attempts int
	// Backlog is the number of waiting rows above which Admit lets nobody in;
	// 2,000, and at most Capacity. It bounds how far the loader runs ahead of the
	// observers.
	Backlog int
	// MaxWait is how long the oldest row that needs nothing but a worker may have
	// waited for one: above it Admit lets nobody in; 1 s. It bounds how old what is
	// loaded becomes before observers are done with it, however slow they are.
	// Backlog cannot: on a machine that is busy with other work, 2,000 rows take a
	// minute.
	MaxWait time.Duration
	// Capacity is the number of rows kept in memory; 200,000. Notifications above
	// it stay in the table only, and are scanned for when there is room. A row
	// takes about 300 bytes, and its key.
	Capacity int
	// Rescan is how often the pipeline looks for notifications it was not told
	// of; 5 min.
	Rescan time.Duration
	// Events hears what happens; nil functions are not called. They must not
	// block.
	Events Events
}

// Events are callbacks with facts, for logs, metrics and tests. They are called
// by the workers, several at a time.
type Events struct {
	// Ran: a run has committed; rows is how many it was for.
	Ran func(observer string, rows int, took time.Duration)
	// Tried: a run has ended, committed or not; it is told before the others are.
	Tried func(Attempt)
	// Conflict: a run met a conflict, or its outcome is unknown; it will be
	// repeated.
	Conflict func(observer string, rows []string, err error)
	// Failed: a run failed. attempt counts from 1 for a single row; a batch that
	// fails is split first.
	Failed func(observer string, rows []string, attempt int, err error)
	// Dead: the row is in the dead letters.
	Dead func(observer, row string, err error)
	// Orphaned: a notification of an observer that does not exist was removed.
	Orphaned func(observer, row string)
}

func (o Options) withDefaults() Options {
	def := func(v *int, d int) {
		if *v <= 0 {
			*v = d
		}
	}
	def(&o.Workers, 4)
	def(&o.Attempts, 12)
	def(&o.Backlog, 2000)
	def(&o.Capacity, 200_000)
	o.Backlog = min(o.Backlog, o.Capacity) // the queue never holds more
	if o.MaxWait <= 0 {
		o.MaxWait = time.Second
	}
	if o.Rescan <= 0 {
		o.Rescan = 5 * time.Minute
	}
	return o
}
