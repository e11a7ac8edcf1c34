package txnbench

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"time"

	"github.com/webindexer/indexer/bench/measure"
	"github.com/webindexer/indexer/store/badgerdb"
	"github.com/webindexer/indexer/txn"
)

// Figure8Options of Figure8.
type Figure8Options struct {
	CacheBytes int64 // of table blocks, for each holder of cells
	Values     []int // sizes, in bytes
	Goroutines []int
	Slice      time.Duration // of one measurement
	Rounds     int           // the holders in turn, this often; medians count
	Sync       bool          // sync the log before a write is acknowledged, on both sides
	Log        io.Writer     // a line a measurement
}

// Figure8Row compares one operation with the same on raw Badger.
type Figure8Row struct {
	Op         string  `json:"op"`   // read or write
	Path       string  `json:"path"` // one-phase or two-phase
	Value      int     `json:"value_bytes"`
	Data       string  `json:"data"` // in cache, or 5 × cache
	Goroutines int     `json:"goroutines"`
	Raw        float64 `json:"raw_per_second"`
	Ours       float64 `json:"our_per_second"`
	Ratio      float64 `json:"ratio"`                // the median over the rounds of Ours / Raw
	RawCPU     float64 `json:"raw_cpu_microseconds"` // of the processors, per operation; 0 where not known
	OurCPU     float64 `json:"our_cpu_microseconds"`
	CPURatio   float64 `json:"cpu_ratio"` // the median over the rounds of raw / ours: comparable with Ratio
	Bar        float64 `json:"bar"`
}

// Figure8Result is the table, and the medians of its columns.
type Figure8Result struct {
	Rows    []Figure8Row     `json:"rows"`
	Summary []Figure8Summary `json:"summary"`
}

// Figure8Summary is an operation over all settings.
type Figure8Summary struct {
	Op     string  `json:"op"`
	Path   string  `json:"path"`
	Median float64 `json:"median_ratio"`
	Least  float64 `json:"least_ratio"`
	CPU    float64 `json:"median_cpu_ratio"`
	Bar    float64 `json:"bar"`
	Paper  float64 `json:"paper"`
}

// What the paper measured, and what we hold ourselves to.
var (
	figure8Bars  = map[string]float64{"read one-phase": 0.95, "read two-phase": 0.95, "write one-phase": 0.60, "write two-phase": 0.33}
	figure8Paper = map[string]float64{"read one-phase": 0.94, "read two-phase": 0.94, "write one-phase": 0.23, "write two-phase": 0.23}
)

// figure8Data are the sizes of the cells, relative to the cache of blocks.
var figure8Data = []struct {
	name   string
	factor float64
}{{"in cache", 0.5}, {"5 × cache", 5}}

// Figure8 is the paper's Figure 8: reads of a random cell, and transactions that write
// one random cell, per second, compared with raw Badger that reads and writes the same
// cells in the same minute, with the same options and the same durability.
//
// All directories are closed and opened again after they were filled, so that
// what is read comes from table files, and every cell is read once before the
// measurement begins. Reads are measured before writes.
func Figure8(ctx context.Context, o Figure8Options) (*Figure8Result, error) {
	res := &Figure8Result{}
	for _, size := range o.Values {
		for _, d := range figure8Data {
			n := max(int(float64(o.CacheBytes)*d.factor/float64(size+60)), 16)
			_, err := measure.InTemp(func(dir string) (any, error) {
				return nil, figure8(ctx, dir, newCells(n, size), d.name, o, res)
			})
			if err != nil {
				return nil, fmt.Errorf("txn: values of %d bytes, %s: %w", size, d.name, err)
			}
		}
	}
	res.summarise()
	return res, nil
}

// trio holds the same cells three times.
type trio struct {
	raw, one, two holder
}

func openTrio(ctx context.Context, dir string, c *cells, opts badgerdb.Options) (_ *trio, err error) {
	t := &trio{}
	defer func() {
		if err != nil {
			err = errors.Join(err, t.close())
		}
	}()
	r, err := openRaw(dir, c, opts)
	if err != nil {
		return nil, err
	}
	t.raw = r
	one, err := openOurs(ctx, dir, c, txn.OnePhase, opts)
	if err != nil {
		return nil, err
	}
	t.one = one
	two, err := openOurs(ctx, dir, c, txn.TwoPhase, opts)
	if err != nil {
		return nil, err
	}
	t.two = two
	return t, nil
}

func (t *trio) all() []holder { return []holder{t.raw, t.one, t.two} }

func (t *trio) close() (err error) {
	for _, h := range t.all() {
		if h != nil {
			err = errors.Join(err, h.close())
		}
	}
	return err
}

func figure8(ctx context.Context, dir string, c *cells, data string, o Figure8Options, res *Figure8Result) (err error) {
	opts := badgerdb.Options{SyncWrites: o.Sync, BlockCacheBytes: o.CacheBytes}
	t, err := openTrio(ctx, dir, c, opts)
	if err != nil {
		return err
	}
	for _, h := range t.all() {
		if err := c.fill(ctx, h); err != nil {
			return errors.Join(err, t.close())
		}
	}
	if err := t.close(); err != nil {
		return err
	}
	if t, err = openTrio(ctx, dir, c, opts); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, t.close()) }()
	for _, h := range t.all() {
		for i := range c.rows {
			if err := h.read(ctx, i); err != nil {
				return err
			}
		}
	}
	for _, op := range []string{"read", "write"} {
		for _, g := range o.Goroutines {
			rows, err := t.compare(ctx, c, op, g, o)
			if err != nil {
				return err
			}
			for _, r := range rows {
				r.Op, r.Value, r.Data, r.Goroutines = op, c.size, data, g
				r.Bar = figure8Bars[r.Op+" "+r.Path]
				res.Rows = append(res.Rows, r)
				fmt.Fprintln(o.Log, r.String())
			}
		}
	}
	return nil
}

// compare runs one operation on all three in turn.
func (t *trio) compare(ctx context.Context, c *cells, op string, goroutines int, o Figure8Options) ([]Figure8Row, error) {
	rates, cpus := make([][]float64, 3), make([][]float64, 3)
	for range max(o.Rounds, 1) {
		for i, h := range t.all() {
			r, err := costOf(ctx, goroutines, o.Slice, operation(h, c, op))
			if err != nil {
				return nil, err
			}
			rates[i], cpus[i] = append(rates[i], r.perSecond), append(cpus[i], r.cpu)
		}
	}
	var rows []Figure8Row
	for i, path := range []string{"one-phase", "two-phase"} {
		rows = append(rows, Figure8Row{
			Path: path, Raw: measure.Median(rates[0]), Ours: measure.Median(rates[i+1]), Ratio: measure.Median(ratios(rates[i+1], rates[0])),
			RawCPU: measure.Median(cpus[0]), OurCPU: measure.Median(cpus[i+1]), CPURatio: measure.Median(ratios(cpus[0], cpus[i+1])),
		})
	}
	return rows, nil
}

// ratios divides what was measured in the same rounds. Where nothing is known of the
// processors, there are none.
func ratios(over, under []float64) (list []float64) {
	for i := range over {
		if under[i] > 0 {
			list = append(list, over[i]/under[i])
		}
	}
	return list
}

func operation(h holder, c *cells, op string) work {
	if op == "read" {
		return func(ctx context.Context, rng *rand.Rand) error { return h.read(ctx, rng.IntN(len(c.rows))) }
	}
	return func(ctx context.Context, rng *rand.Rand) error {
		i := rng.IntN(len(c.rows))
		return h.write(ctx, i, c.value(i, rng))
	}
}

// String is the row as a line.
func (r *Figure8Row) String() string {
	return fmt.Sprintf("%-5s  %-9s  %6d B  %-9s  %2d goroutines  raw %9.0f/s  ours %9.0f/s  ratio %.2f (bar %.2f)  processor: raw %6.1f µs  ours %6.1f µs  ratio %.2f",
		r.Op, r.Path, r.Value, r.Data, r.Goroutines, r.Raw, r.Ours, r.Ratio, r.Bar, r.RawCPU, r.OurCPU, r.CPURatio)
}

func (res *Figure8Result) summarise() {
	for _, op := range []string{"read", "write"} {
		for _, path := range []string{"one-phase", "two-phase"} {
			var ratios, cpus []float64
			least := 0.0
			for _, r := range res.Rows {
				if r.Op == op && r.Path == path {
					ratios, cpus = append(ratios, r.Ratio), append(cpus, r.CPURatio)
					if least == 0 || r.Ratio < least {
						least = r.Ratio
					}
				}
			}
			k := op + " " + path
			res.Summary = append(res.Summary, Figure8Summary{Op: op, Path: path, Median: measure.Median(ratios), CPU: measure.Median(cpus), Least: least, Bar: figure8Bars[k], Paper: figure8Paper[k]})
		}
	}
}
