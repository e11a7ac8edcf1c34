// Package clusterbench repeats Figure 7 of the Percolator paper. It measures the time from
// the crawl of a document until the document is clustered: by an observer, and by a batch
// job that clusters the whole repository again and again.
package clusterbench

import (
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"time"

	"github.com/webindexer/indexer/bench/measure"
	"github.com/webindexer/indexer/txn"
)

// Options of Run.
type Options struct {
	Documents int           // in the repository
	Percents  []float64     // of the repository, crawled in an hour
	Hour      time.Duration // what counts as an hour; 0: three batch runs, as in the paper
	Slice     time.Duration // how long each crawl rate lasts, of the observer
	Workers   int
	Commit    txn.Mode
	Seed      uint64
	Log       io.Writer
}

// Result has a row for each crawl rate.
type Result struct {
	Documents int     `json:"documents"`
	Clusters  int     `json:"clusters"`
	Batch     float64 `json:"batch_seconds"` // one run over the repository
	Hour      float64 `json:"hour_seconds"`
	// Saturation is how many documents a second the observer clusters at most, also in
	// percent of the repository an hour.
	Saturation        float64 `json:"saturation_per_second"`
	SaturationPercent float64 `json:"saturation_percent"`
	Rows              []Row   `json:"rows"`
	// CrossOver is the lowest crawl rate measured at which the batch job has the lower
	// median delay, in percent; 0 if there is none.
	CrossOver float64 `json:"cross_over_percent"`
}

// Row compares both at one crawl rate.
type Row struct {
	Percent   float64 `json:"percent_per_hour"`
	PerSecond float64 `json:"documents_per_second"`
	Observer  Delay   `json:"observer"`
	Batch     Delay   `json:"batch"`
	Ratio     float64 `json:"ratio"` // of the medians: Batch / Observer; 0 if one cannot keep up
}

// Delay is from crawled to clustered, in milliseconds.
type Delay struct {
	P5  float64 `json:"p5_ms"`
	P50 float64 `json:"p50_ms"`
	P95 float64 `json:"p95_ms"`
	// Unbounded: documents come faster than they are clustered, so the delay has no
	// bound.
	Unbounded bool `json:"unbounded"`
}

// document has an identity and three clustering keys.
type document struct {
	id   uint32
	keys [3]uint32
}

// keysPerDocument is how many different keys there are, for each of the three tables. With
// 0.75 the average cluster has 3.3 documents (paper, section 3.1).
const keysPerDocument = 0.75

// draw makes a document. Its keys depend on its identity and the seed alone.
func (o *Options) draw(id int) document {
	rng := rand.New(rand.NewPCG(o.Seed, uint64(id)))
	keys := max(uint32(keysPerDocument*float64(o.Documents)), 1)
	return document{uint32(id), [3]uint32{rng.Uint32N(keys), rng.Uint32N(keys), rng.Uint32N(keys)}}
}

// Run measures both sides.
//
// A cluster is found as in the paper's sequence of three runs: documents with the same
// first key have the first of them as their leader; leaders with the same second key
// have the first of these; and so on with the third. The observer needs a look-up in up
// to three tables for it.
func Run(ctx context.Context, o Options) (*Result, error) {
	res, err := measure.InTemp(func(dir string) (*Result, error) { return run(ctx, dir, o) })
	if err != nil {
		return nil, fmt.Errorf("clustering: %w", err)
	}
	return res, nil
}

func run(ctx context.Context, dir string, o Options) (*Result, error) {
	b, err := newBatch(filepath.Join(dir, "batch"), &o)
	if err != nil {
		return nil, err
	}
	took, clusters, err := b.median(ctx, 0)
	if err != nil {
		return nil, err
	}
	if o.Hour == 0 {
		o.Hour = 3 * took
	}
	res := &Result{Documents: o.Documents, Clusters: clusters, Batch: took.Seconds(), Hour: o.Hour.Seconds()}
	fmt.Fprintf(o.Log, "a batch run over %d documents takes %.3f s and finds %d clusters; an hour is %.1f s\n", o.Documents, res.Batch, clusters, res.Hour)
	for _, percent := range o.Percents {
		row := Row{Percent: percent, PerSecond: percent / 100 * float64(o.Documents) / o.Hour.Seconds()}
		if row.Batch, err = b.delay(ctx, row.PerSecond, took); err != nil {
			return nil, err
		}
		res.Rows = append(res.Rows, row)
	}
	if err := withIncremental(ctx, filepath.Join(dir, "observer"), &o, func(i *incremental) error { return res.observe(ctx, &o, i) }); err != nil {
		return nil, err
	}
	res.compare()
	return res, nil
}

// compare fills in what follows from the delays of both sides.
func (r *Result) compare() {
	for i := range r.Rows {
		row := &r.Rows[i]
		if !row.Batch.Unbounded && !row.Observer.Unbounded && row.Observer.P50 > 0 {
			row.Ratio = row.Batch.P50 / row.Observer.P50
		}
		batchWins := !row.Batch.Unbounded && (row.Observer.Unbounded || row.Observer.P50 > row.Batch.P50)
		if batchWins && r.CrossOver == 0 {
			r.CrossOver = row.Percent
		}
	}
}

// observe fills in the side of the observer.
func (r *Result) observe(ctx context.Context, o *Options, i *incremental) error {
	var err error
	if r.Saturation, err = i.saturate(ctx, o.Slice); err != nil {
		return err
	}
	r.SaturationPercent = 100 * r.Saturation * r.Hour / float64(o.Documents)
	fmt.Fprintf(o.Log, "the observer clusters at most %.0f documents a second, %.0f %% of the repository an hour\n", r.Saturation, r.SaturationPercent)
	for n := range r.Rows {
		row := &r.Rows[n]
		if row.PerSecond > r.Saturation {
			row.Observer.Unbounded = true
			continue
		}
		if row.Observer, err = i.delay(ctx, row.PerSecond, o.Slice); err != nil {
			return err
		}
		fmt.Fprintf(o.Log, "%g %%: observer %.2f ms, batch %.0f ms (medians)\n", row.Percent, row.Observer.P50, row.Batch.P50)
	}
	return i.audit(ctx)
}

// delayOf summarises delays.
func delayOf(list []time.Duration) Delay {
	slices.Sort(list)
	at := func(q float64) float64 { return measure.Milliseconds(measure.Quantile(list, q)) }
	return Delay{P5: at(0.05), P50: at(0.50), P95: at(0.95)}
}
