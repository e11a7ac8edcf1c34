package trace

import (
	"time"

	"github.com/webindexer/indexer/page"
)

// Journey is the way of the fetch in force of a URL through the pipeline.
type Journey struct {
	URL page.URL `json:"url"`
	// State is searchable, under way, settled (the index shows nothing of it) or unknown (it
	// was never fetched successfully).
	State string `json:"state"`
	// Reason says in words why it is or is not in the index.
	Reason    string   `json:"reason,omitempty"`
	Canonical page.URL `json:"canonical,omitempty"`

	Fetch      *Fetch  `json:"fetch,omitempty"`
	Loaded     *Moment `json:"loaded,omitempty"`     // commit of the loader
	Searchable *Moment `json:"searchable,omitempty"` // commit of the export that made it searchable
	// AtLatest says that it may have been searchable before Searchable; earlier versions have
	// been collected.
	AtLatest bool `json:"searchable_at_latest,omitempty"`
	// TookMS is the time from loaded to searchable, if both are known.
	TookMS *float64 `json:"loaded_to_searchable_ms,omitempty"`

	Steps   []Step `json:"steps"`
	Omitted int    `json:"omitted,omitempty"` // number of steps omitted after it became searchable
	// Waiting are notifications that no run has acknowledged yet.
	Waiting []Waiting `json:"waiting,omitempty"`
	// Recorded says whether the Log has the attempts since the fetch was loaded: then Steps
	// includes failed attempts, and times are exact.
	Recorded bool `json:"recorded"`
}

// The states of a Journey.
const (
	StateSearchable = "searchable"
	StateUnderWay   = "under way"
	StateSettled    = "settled"
	StateUnknown    = "unknown"
)

// Fetch describes the fetch in force.
type Fetch struct {
	Time   time.Time `json:"time"`
	Status int       `json:"status"`
	// MS is its duration and Bytes its size on the network, if the crawl recorded them.
	MS    *int64 `json:"ms,omitempty"`
	Bytes *int64 `json:"bytes,omitempty"`
}

// Moment is a timestamp and its time.
type Moment struct {
	TS uint64     `json:"ts,omitempty"`
	At *time.Time `json:"at,omitempty"`
	// WithinMS is the maximum error of At; 0 means exact.
	WithinMS float64 `json:"within_ms,omitempty"`
}

// Step is a transaction, or an attempt at one.
type Step struct {
	// What is load, run, conflict, failure, or again: a fetch that changed nothing.
	What     string `json:"what"`
	Observer string `json:"observer,omitempty"`
	// On is page or cluster: the row on which it ran.
	On string `json:"on,omitempty"`
	// Start and Commit are its timestamps; Commit is 0 if it did not commit.
	Start  uint64 `json:"start_ts,omitempty"`
	Commit uint64 `json:"commit_ts,omitempty"`
	Ended  Moment `json:"ended"`
	// SinceLoadMS is the time from the loader's commit to the end of the step, if known.
	SinceLoadMS *float64 `json:"since_load_ms,omitempty"`
	// WaitedMS is the time from receiving the notification to the run, TookMS from there to
	// the end of the commit, and Batch the number of rows in the run; if the Log has them.
	WaitedMS *float64 `json:"waited_ms,omitempty"`
	TookMS   *float64 `json:"took_ms,omitempty"`
	Batch    int      `json:"batch,omitempty"`
	Wrote    []Write  `json:"wrote,omitempty"` // what is about this page and still stored
	Error    string   `json:"error,omitempty"`
	// Found marks the export that made the page searchable.
	Found bool `json:"found,omitempty"`
}

// The kinds of steps.
const (
	StepLoad     = "load"
	StepRun      = "run"
	StepConflict = "conflict"
	StepFailure  = "failure"
	StepAgain    = "again"
)

// Write is what a transaction did to a column, in one or more rows.
type Write struct {
	Column string `json:"column"`
	Op     string `json:"op"` // put or delete
	Cells  int    `json:"cells"`
	Bytes  int    `json:"bytes,omitempty"` // sum over all values
}

// Waiting is a notification.
type Waiting struct {
	Observer string `json:"observer"`
	On       string `json:"on"`
	Since    Moment `json:"since"`
}
