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
		for _, e := range part {
			e.most = half
			e.unknown = e.unknown || unknown
		}
		p.retryTogether(part, conflictDelay)
	}
}

// failedRun retries a failed row several times and then sets it aside, or at once if the
// error is permanent. It halves a batch first, to find the row that fails: the other rows
// come back in batches, and a batch that was only too large fits after a few halvings. If no
// row has caused the failure, the batch comes back as it is.
func (p *Pipeline) failedRun(ctx context.Context, o *Observer, batch []*entry, cause error) {
	if errors.Is(cause, errBegin) || errors.Is(cause, ErrUnavailable) || p.storeFailedLately() {
		p.retryTogether(batch, failureDelay)
		return
	}
	if len(batch) > 1 {
		for _, e := range batch {
			e.most = (len(batch) + 1) / 2
		}
		p.retry(batch, 0)
		return
	}
	batch[0].failures++
	if batch[0].failures < p.opts.Attempts && !permanent(cause) {
		p.retryTogether(batch, failureDelay)
		return
	}
	p.setAside(ctx, o, batch, cause)
}

// retryTogether returns rows for another run, in one batch: after one delay for all of them.
func (p *Pipeline) retryTogether(batch []*entry, first time.Duration) {
	attempts := 0
	for _, e := range batch {
		e.attempts++
		attempts = max(attempts, e.attempts)
	}
	p.retry(batch, backoff(first, attempts))
}

// retry returns rows for another run.
func (p *Pipeline) retry(batch []*entry, delay time.Duration) {
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
		p.retryTogether(batch, failureDelay)
		return
	}
	p.meters[e.observer].dead.Add(1)
	if p.opts.Events.Dead != nil {
		p.opts.Events.Dead(o.Name, e.row, cause)
	}
	p.queue.finished(batch)
}
