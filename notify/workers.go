package notify

import "context"

// Workers are numbered from 0. The queue knows which workers exist and how many there
// should be. A worker whose number is too high ends when it asks for work;
// it has returned its rows by then. So the number can change while the
// pipeline runs, and no row is ever with two workers or lost.

// SetWorkers changes the number of workers that run observers. Surplus workers finish
// their run first; 0 is a pause, in which notifications accumulate. Before Start and
// after Stop it does nothing.
func (p *Pipeline) SetWorkers(n int) {
	q := p.queue
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.closed || p.launch == nil { // closed: Stop may be waiting for p.work already
		return
	}
	q.wanted = max(n, 0)
	for i := range q.wanted {
		if i == len(q.working) {
			q.working = append(q.working, false)
		}
		if !q.working[i] {
			q.working[i] = true
			p.launch(i)
		}
	}
	q.work.Broadcast() // wakes surplus workers
	q.tellWatchers()
}

// launchWorkers starts the first workers.
func (p *Pipeline) launchWorkers(ctx context.Context) {
	p.queue.mu.Lock()
	p.launch = func(i int) { p.work.Go(func() { p.worker(ctx, i) }) }
	p.queue.mu.Unlock()
	p.SetWorkers(p.opts.Workers)
}

// worker takes rows and runs observers on them until it is no longer wanted.
func (p *Pipeline) worker(ctx context.Context, i int) {
	ended := false
	defer func() {
		if !ended { // an observer ended the goroutine (runtime.Goexit): another takes its place
			p.launch(i)
		}
	}()
	for {
		batch := p.queue.next(i)
		if batch == nil {
			ended = true
			return
		}
		p.run(ctx, batch)
	}
}
