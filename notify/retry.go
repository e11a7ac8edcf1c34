package notify

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/webindexer/indexer/txn"
)

// The delays before a row is run again: doubling with each run that did not
// commit, up to a bound, and each drawn at random from its upper half, so that
// rows that conflicted once do not conflict again. Failures wait ten times as long as
// conflicts, which end by themselves. Twelve attempts take about half a minute.
const (
	conflictDelay = 4 * time.Millisecond
	failureDelay  = 40 * time.Millisecond
	mostDoublings = 8
)

func backoff(first time.Duration, attempts int) time.Duration {
	return jitter(first << min(attempts-1, mostDoublings))
}

// conflicted returns rows after a moment. It splits a batch into halves, each with one
// delay for all its rows, so that they come back as one batch.
//
// The conflict is past, so a half usually commits; if rows conflict again and again, further
// halving ends with each of them alone. Rejected: going straight to single rows. Work that is
// cheap only in a batch, such as an export with its update of the index files, would be done
// once for each row, although only one of them had a conflict.
func (p *Pipeline) conflicted(batch []*entry, cause error) {
	unknown := errors.Is(cause, txn.ErrUnknown)
	half := (len(batch) + 1) / 2
	for part := range slices.Chunk(batch, half) {
		attempts := 0
		for _, e := range part {
			e.most = half
			e.attempts++
			attempts = max(attempts, e.attempts)
			e.unknown = e.unknown || unknown
		}
		d := backoff(conflictDelay, attempts)
		p.retry(part, func(*entry) time.Duration { return d })
	}
}

// failedRun retries a failed row several times and then sets it aside, or at once if the
// error is permanent. It halves a batch first, to find the row that fails: the other rows
// come back in batches, and a batch that was only too large fits after a few halvings.
func (p *Pipeline) failedRun(ctx context.Context, o *Observer, batch []*entry, cause error) {
	begun := !errors.Is(cause, errBegin) && !errors.Is(cause, ErrUnavailable) && !p.storeFailedLately()
	if begun && len(batch) > 1 {
		for _, e := range batch {
			e.most = (len(batch) + 1) / 2
		}
		p.retry(batch, func(*entry) time.Duration { return 0 })
		return
	}
	for _, e := range batch {
		e.attempts++
		if begun {
			e.failures++
		}
	}
	if !begun || batch[0].failures < p.opts.Attempts && !permanent(cause) {
		p.retry(batch, afterFailure)
		return
	}
	p.setAside(ctx, o, batch, cause)
}

func afterFailure(e *entry) time.Duration { return backoff(failureDelay, e.attempts) }

// retry returns rows for another run.
func (p *Pipeline) retry(batch []*entry, delay func(*entry) time.Duration) {
	p.meters[batch[0].observer].retries.Add(int64(len(batch)))
	p.queue.requeue(batch, delay)
}

// setAside makes the only row of a batch a dead letter.
func (p *Pipeline) setAside(ctx context.Context, o *Observer, batch []*entry, cause error) {
	e := batch[0]
	if err := p.writeDeadLetter(ctx, o, e, cause); err != nil {
		if fatal(err) {
			p.Fail(fmt.Errorf("notify: observer %s: %w", o.Name, err))
		} else if p.opts.Events.Failed != nil {
			p.opts.Events.Failed(o.Name, rowsOf(batch), e.failures, err)
		}
		p.queue.requeue(batch, afterFailure)
		return
	}
	p.meters[e.observer].dead.Add(1)
	if p.opts.Events.Dead != nil {
		p.opts.Events.Dead(o.Name, e.row, cause)
	}
	p.queue.finished(batch)
}
