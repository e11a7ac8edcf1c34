package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"indexer/internal/control"
	"indexer/notify"
	"indexer/observers"
	"indexer/repository"
	"indexer/web/live"
)

// besideSource is a live.Source for the pipeline of another process. It requests each pulse
// from that process and remembers the last answer.
type besideSource struct {
	app *app
	ctx context.Context // of the server

	asking sync.Mutex // held while a pulse is requested

	mu    sync.Mutex
	last  repository.Pulse  // the newest answer
	found []observers.Found // the newest, ascending
	slow  liveReport        // the newest answer to a request with Slow
}

// The bounds of a request. A busy process answers later; a dead one never does.
const (
	liveTime     = 2 * time.Second
	maxLiveTold  = 8 << 20 // bytes of an answer
	maxLiveFound = 2_000   // pages, as many as the other process remembers
)

// errNotTold says that the process that holds the data directory does not report its
// pipeline.
var errNotTold = fmt.Errorf("%w: the process that has the data directory does not answer", live.ErrUnknown)

// errNotHeld says that no process holds the data directory at the moment.
var errNotHeld = fmt.Errorf("%w: the data directory is being handed over", live.ErrUnknown)

func (b *besideSource) ask(ctx context.Context, q liveRequest) (*liveReport, error) {
	args, err := json.Marshal(q)
	if err != nil {
		return nil, fmt.Errorf("ask for the pipeline: %w", err)
	}
	ctx, cancel := context.WithTimeout(ctx, liveTime)
	defer cancel()
	out, said := &boundedBuffer{most: maxLiveTold}, &boundedBuffer{most: 64 << 10}
	status, err := control.Ask(ctx, b.app.cfg.Data, b.app.request("live", string(args)), out, said)
	if err == nil && status != statusDone {
		err = errors.New(strings.TrimSpace(said.String()))
	}
	r := new(liveReport)
	if err == nil {
		err = json.Unmarshal(out.Bytes(), r)
	}
	if err != nil {
		return nil, fmt.Errorf("%w: %w", errNotTold, err)
	}
	return r, nil
}

// Pulse requests the pulse. If that fails, it returns the last one, marked as unknown.
func (b *besideSource) Pulse() repository.Pulse {
	b.asking.Lock()
	defer b.asking.Unlock()
	b.mu.Lock()
	var since time.Time
	if n := len(b.found); n > 0 {
		since = b.found[n-1].At
	}
	b.mu.Unlock()
	r, err := b.ask(b.ctx, liveRequest{Since: since})
	b.mu.Lock()
	defer b.mu.Unlock()
	if err != nil {
		p := b.last
		p.Time, p.NotReady = time.Now(), errNotTold
		return p
	}
	b.last = r.Pulse
	switch {
	case r.Paused:
		b.last.NotReady = notify.ErrPaused
	case r.NotReady != "":
		b.last.NotReady = errors.New(r.NotReady)
	}
	b.found = append(b.found, r.Found...)
	b.found = slices.Clone(b.found[max(len(b.found)-maxLiveFound, 0):])
	return b.last
}

// FoundSince uses the pages that were reported.
func (b *besideSource) FoundSince(t time.Time) observers.Latency {
	b.mu.Lock()
	defer b.mu.Unlock()
	return observers.LatencySince(b.found, t)
}

// Found lists the pages that were reported.
func (b *besideSource) Found(since time.Time) []observers.Found {
	b.mu.Lock()
	defer b.mu.Unlock()
	first, _ := slices.BinarySearchFunc(b.found, since, func(f observers.Found, t time.Time) int {
		if f.At.After(t) {
			return 1
		}
		return -1
	})
	return slices.Clone(b.found[first:])
}

// Space requests everything that costs a scan. DeadCount and Frontier return parts of its
// answer.
func (b *besideSource) Space() (repository.Space, error) {
	r, err := b.ask(b.ctx, liveRequest{Since: time.Now(), Slow: true})
	if err == nil && r.Space == nil {
		err = errNotTold
	}
	if err != nil {
		return repository.Space{}, err
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.slow = *r
	return *r.Space, nil
}

// DeadCount returns the answer that Space received.
func (b *besideSource) DeadCount(context.Context) (map[string]int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.slow.Space == nil {
		return nil, errNotTold
	}
	if b.slow.Dead == nil {
		return map[string]int{}, nil
	}
	return b.slow.Dead, nil
}

// Frontier returns the answer that Space received.
func (b *besideSource) Frontier(context.Context, int) (*live.Frontier, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.slow.Frontier, nil
}
