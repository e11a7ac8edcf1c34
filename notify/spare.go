package notify

import (
	"container/heap"
	"time"
)

// Debouncing saves work under load. When a worker has nothing else to do, there is time
// to spare, and a row that a user may be waiting for need not wait for the end of its
// delay: a page should be searchable as soon as it is fetched, even while other pages
// come every few milliseconds and upstream is never idle (idle.go).
//
// Five rules keep this from undoing the debounce:
//
//   - While a loader is at work (Pipeline.Loading), there is no time to spare, even if a
//     worker has nothing to do: the next notifications are about to come. A crawl as fast
//     as the machine allows leaves such gaps all the time; without this rule, it exported
//     each document twice, and spent a third of its processor time on that.
//   - While a caller waits for the queue to empty, upstream finishes first, as always
//     (idle.go), and then all debounced rows run. Without this rule, pages at the end of a
//     load were exported before their ranks were known, and then again.
//   - Only urgent rows run in spare time. Deferrable notifications
//     (txn.Txn.NotifyDeferrable) come in crowds, such as those of a page to which
//     every other page links.
//   - While a batch of the observer runs, rows that are notified gather for the next one,
//     until there are spareBatch of them. So batches grow with the load. Under full load
//     no worker ever comes here.
//   - A row that has run spareRuns times within one Debounce waits for the end of its
//     delay. Otherwise the cluster of an error page, which grows with every second page of
//     some sites, would be exported again and again, and take all the spare time.
//
// spareBatch is small, because rows wait for the whole batch that they are in.
//
// Rejected: leaving out rows that ran a moment ago. A page that has changed notifies its
// new cluster twice: once for the text, before it is a member, and once when it is.

const (
	spareBatch = 32
	spareRuns  = 4
)

// forSpareTime offers a debounced entry to workers that have nothing else to do, if it
// may run in spare time.
func (q *queue) forSpareTime(e *entry) {
	if !q.registry.list[e.observer].Spare || !e.urgent || !e.debounced || e.spare != nil || q.ranOften(e) {
		return
	}
	e.spare = q.spare[e.observer].PushBack(e)
	q.wakeSpare()
}

// ranOften reports whether the row of an entry has had its share of the spare time.
func (q *queue) ranOften(e *entry) bool {
	run, _ := q.lastRuns[e.observer].of(e.row)
	return run.runs >= spareRuns && time.Since(run.since) < q.registry.list[e.observer].Debounce
}

// wakeSpare wakes a worker, if one has nothing to do, for rows that may be run in spare
// time.
func (q *queue) wakeSpare() {
	for i := range q.spare {
		if q.spareBatch(i) > 0 {
			q.work.Signal()
			return
		}
	}
}

// Loading tells the pipeline that a loader is at work, until end is called. Loaders call it
// before Admit.
func (p *Pipeline) Loading() (end func()) {
	p.queue.addLoaders(1)
	return func() { p.queue.addLoaders(-1) }
}

func (q *queue) addLoaders(n int) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.loaders += n; q.loaders > 0 {
		return
	}
	q.endLinger(time.Now())
	if q.allDebounced() > 0 {
		q.wakeSpare()
		q.wakeTimer()
	}
}

// spareBatch is how many rows of an observer may be run in spare time now.
func (q *queue) spareBatch(observer int) int {
	if q.loaders > 0 || q.waiters > 0 {
		return 0
	}
	most := min(q.registry.list[observer].Batch, spareBatch)
	n := min(q.spare[observer].Len(), most)
	if n < most && q.busy[observer] > 0 {
		return 0
	}
	return n
}

// releaseSpare makes a batch ready for a worker that has found nothing to do. It reports
// whether there was one.
func (q *queue) releaseSpare() bool {
	for i := range q.spare {
		n := q.spareBatch(i)
		for range n {
			e := q.spare[i].Front().Value.(*entry)
			heap.Remove(&q.delayed[i], e.pos)
			q.makeReady(e)
		}
		if n > 0 {
			return true
		}
	}
	return false
}
