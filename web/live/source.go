package live

import (
	"context"
	"errors"
	"time"

	"indexer/observers"
	"indexer/repository"
)

// Source is what is shown. *repository.Repository has all but Frontier.
type Source interface {
	// Pulse and FoundSince cost little: they are asked every second.
	Pulse() repository.Pulse
	FoundSince(time.Time) observers.Latency
	// Space, DeadCount and Frontier cost a scan.
	Space() (repository.Space, error)
	DeadCount(ctx context.Context) (map[string]int, error)
	// Frontier tells of the crawl, with so many hosts at most; nil if there is none.
	Frontier(ctx context.Context, hosts int) (*Frontier, error)
}

// ErrUnknown is wrapped in the NotReady of a pulse that is an old one, as the pipeline
// cannot be asked just now: nothing is known against it, and what it had to do may be done.
var ErrUnknown = errors.New("not known just now")

// TopHosts is how many hosts of a frontier are shown.
const TopHosts = 12

// Frontier is what a crawl has before it.
type Frontier struct {
	New, Revisits int // URLs never fetched; URLs to be visited again
	HostsTotal    int
	Hosts         []Host // those with the most waiting
	// Running says that the crawl runs in this process, Paused why it makes no requests
	// for the moment.
	Running   bool
	Paused    string
	PerSecond float64 // pages, while it runs
	Pages     int64
}

// Host is what waits at one host, and why.
type Host struct {
	Host          string
	New, Revisits int
	Why           string
}
