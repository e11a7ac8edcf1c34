package trace

import (
	"time"

	"indexer/page"
)

// Journey is the way of the fetch in force of a URL through the pipeline.
type Journey struct {
	URL page.URL `json:"url"`
	// State is searchable, under way, settled (nothing that the index shows has come
	// of it) or unknown (it was not fetched with success).
	State string `json:"state"`
	// Reason says in words why it is in the index, or not.
	Reason    string   `json:"reason,omitempty"`
	Canonical page.URL `json:"canonical,omitempty"`

	Fetch      *Fetch  `json:"fetch,omitempty"`
	Loaded     *Moment `json:"loaded,omitempty"`     // commit of the loader
	Searchable *Moment `json:"searchable,omitempty"` // commit of the export; since when it could be found
	// AtLatest: it could be found by Searchable at the latest. What was written
	// earlier is collected already.
	AtLatest bool `json:"searchable_at_latest,omitempty"`
	// TookMS is from loaded to searchable, where both times are known.
	TookMS *float64 `json:"loaded_to_searchable_ms,omitempty"`

	Steps   []Step `json:"steps"`
	Omitted int    `json:"omitted,omitempty"` // steps after it could be found that are left out
	// Waiting are notifications that no run has answered yet.
	Waiting []Waiting `json:"waiting,omitempty"`
	// Recorded is whether the attempts since the fetch was loaded were remembered: then
	// those that failed are among the steps, and times are exact.
	Recorded bool `json:"recorded"`
}

// The states of a Journey.
const (
	StateSearchable = "searchable"
	StateUnderWay   = "under way"
	StateSettled    = "settled"
	StateUnknown    = "unknown"
)

// Fetch is what came from the network.
type Fetch struct {
	Time   time.Time `json:"time"`
	Status int       `json:"status"`
	// MS is how long it took and Bytes what was received, where the crawl remembers.
	MS    *int64 `json:"ms,omitempty"`
	Bytes *int64 `json:"bytes,omitempty"`
}

// Moment is a timestamp and when that was.
type Moment struct {
	TS uint64     `json:"ts,omitempty"`
	At *time.Time `json:"at,omitempty"`
	// WithinMS is by how much At may be wrong; 0 is exact.
	WithinMS float64 `json:"within_ms,omitempty"`
}

// Step is one transaction, or an attempt at one.
type Step struct {
	// What is load, run, conflict, failure, or again: a fetch that changed nothing.
	What     string `json:"what"`
	Observer string `json:"observer,omitempty"`
	// On is page or cluster: whose row it ran on.
	On string `json:"on,omitempty"`
	// Start and Commit are its timestamps; no Commit: it did not commit.
	Start  uint64 `json:"start_ts,omitempty"`
	Commit uint64 `json:"commit_ts,omitempty"`
	Ended  Moment `json:"ended"`
	// SinceLoadMS is from the commit of the loader to the end of this, where known.
	SinceLoadMS *float64 `json:"since_load_ms,omitempty"`
	// WaitedMS is from hearing of the notification to the run, TookMS from there to the
	// end of the commit, Batch how many rows the run was for; where remembered.
	WaitedMS *float64 `json:"waited_ms,omitempty"`
	TookMS   *float64 `json:"took_ms,omitempty"`
	Batch    int      `json:"batch,omitempty"`
	Wrote    []Write  `json:"wrote,omitempty"` // as far as it is about this page, and still stored
	Error    string   `json:"error,omitempty"`
	// Found: this is the export after which it could be found.
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

// Write is what a transaction did to a column, in one row or in some.
type Write struct {
	Column string `json:"column"`
	Op     string `json:"op"` // put or delete
	Cells  int    `json:"cells"`
	Bytes  int    `json:"bytes,omitempty"` // of all values
}

// Waiting is a notification.
type Waiting struct {
	Observer string `json:"observer"`
	On       string `json:"on"`
	Since    Moment `json:"since"`
}
