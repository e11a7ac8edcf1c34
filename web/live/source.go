package live

import (
	"context"
	"errors"
	"time"

	"github.com/webindexer/indexer/observers"
	"github.com/webindexer/indexer/repository"
)

// Source provides the figures. *repository.Repository implements all of it but Frontier.
type Source interface {
	// Sample and FoundSince are cheap: they are called every second.
	Sample() repository.Sample
	FoundSince(time.Time) observers.Latency
	// Space, DeadCount, Waiting and Frontier cost a scan.
	Space() (repository.Space, error)
	DeadCount(ctx context.Context) (map[string]int, error)
	// Waiting counts the rows that wait, by observer, if Sample says that other processes run
	// the observers.
	Waiting(ctx context.Context) (map[string]int, error)
	// Frontier describes the crawl, with at most the given number of hosts; nil if there
	// is no crawl.
	Frontier(ctx context.Context, hosts int) (*Frontier, error)
}

// ErrUnknown is wrapped in NotReady of a sample that is out of date, because the pipeline
// cannot be reached: it may be running well, and its backlog may be done.
var ErrUnknown = errors.New("currently unknown")

// TopHosts is the number of frontier hosts that are shown.
const TopHosts = 12

// Frontier describes what a crawl still has to fetch.
type Frontier struct {
	New, Revisits int // URLs never fetched; URLs to revisit
	HostsTotal    int
	Hosts         []Host // those with the most waiting
	// Running says that the crawl runs in this process. Paused says why it makes no
	// requests at the moment.
	Running   bool
	Paused    string
	PerSecond float64 // pages, while the crawl runs
	Pages     int64
}

// Host counts the URLs that wait at one host, and says why they wait.
type Host struct {
	Host          string
	New, Revisits int
	Why           string
}
