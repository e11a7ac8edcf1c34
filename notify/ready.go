package notify

import "errors"

// ErrPaused: SetWorkers has taken all workers away.
var ErrPaused = errors.New("notify: the pipeline is paused: no workers run observers")

// Ready says why no observer would be run just now, or nil: ErrStopped before Start
// and after Stop, what stopped the pipeline, or ErrPaused.
func (p *Pipeline) Ready() error {
	p.queue.mu.Lock()
	launched, closed, wanted := p.launch != nil, p.queue.closed, p.queue.wanted
	p.queue.mu.Unlock()
	switch {
	case closed || !launched:
		return p.whyStopped()
	case wanted == 0:
		return ErrPaused
	}
	return nil
}
