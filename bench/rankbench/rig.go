package rankbench

import (
	"context"
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/webindexer/indexer/internal/rank"
	"github.com/webindexer/indexer/notify"
	"github.com/webindexer/indexer/observers"
	"github.com/webindexer/indexer/observers/pagerank"
	"github.com/webindexer/indexer/page"
	"github.com/webindexer/indexer/schema"
	"github.com/webindexer/indexer/store/badgerdb"
	"github.com/webindexer/indexer/txn"
)

// rig is a web in a store, with the observer of ranks, run in the caller's goroutine.
type rig struct {
	web       *web
	tolerance float64
	table     *badgerdb.DB
	db        *txn.DB
	stepper   *notify.Stepper
	pipeline  *notify.Pipeline
	done      Work // of the run under way
}

// Work is what rank has done, over any number of runs.
type Work struct {
	Runs   int     `json:"runs"`
	Rows   int     `json:"rows"`   // rank states read, each once a run
	Pushes int     `json:"pushes"` // times that a URL passed on its residual
	Edges  int     `json:"edges"`  // that residuals were passed along
	Took   float64 `json:"seconds"`
}

// visits are pages touched, in the store or in memory.
func (w *Work) visits() int { return w.Rows + w.Pushes }

// openRig writes a web into a new store in a directory, with its ranks as they are after
// long use; see atRest.
func openRig(ctx context.Context, dir string, w *web, tolerance float64) (_ *rig, err error) {
	r := &rig{web: w, tolerance: tolerance}
	defer func() {
		if err != nil {
			err = errors.Join(err, r.close())
		}
	}()
	registry, err := notify.NewRegistry(observers.Only(observers.Options{RankRun: r.note}.Observers(), "rank")...)
	if err != nil {
		return nil, err
	}
	if r.table, err = badgerdb.Open(filepath.Join(dir, "store"), txn.Groups(schema.Groups()...), badgerdb.Options{}); err != nil {
		return nil, err
	}
	r.pipeline = notify.New(registry, notify.Options{Backlog: math.MaxInt32}) // the caller is the only worker
	r.db, err = txn.Open(ctx, r.table, txn.Options{Observers: registry.Observers, Handover: r.pipeline.Handover})
	if err != nil {
		return nil, err
	}
	if err := r.write(ctx); err != nil {
		return nil, fmt.Errorf("write the web: %w", err)
	}
	r.stepper, err = notify.NewStepper(ctx, r.pipeline, r.db)
	return r, err
}

func (r *rig) close() error {
	var errs []error
	if r.pipeline != nil {
		errs = append(errs, r.pipeline.Stop())
	}
	if r.db != nil {
		errs = append(errs, r.db.Close())
	}
	if r.table != nil {
		errs = append(errs, r.table.Close())
	}
	return errors.Join(errs...)
}

func (r *rig) note(w pagerank.Work) {
	r.done.Runs++
	r.done.Rows += w.States
	r.done.Pushes += w.Pushes
	r.done.Edges += w.Edges
}

// atRest returns rank states as they are after many changes: every URL that has links has a
// residual, anywhere within the bound. (Ranks just solved would have none, and room for
// each change to be lost in.)
func (r *rig) atRest(ctx context.Context) ([]schema.StoredRankState, error) {
	g, err := r.web.graph()
	if err != nil {
		return nil, err
	}
	n := len(r.web.links)
	bound := pagerank.ResidualBound(r.tolerance)
	residuals, spread := make([]float64, n), make([]float64, n)
	for u := range residuals {
		residuals[u] = bound * (2*r.web.random.Float64() - 1)
	}
	var in []float64
	for range 120 { // 0.85^120 is 3e-9
		if in, err = g.Inflows(ctx, spread); err != nil {
			return nil, err
		}
		for u := range spread {
			spread[u] = rank.Teleport + rank.Damping*in[u] - residuals[u]
		}
	}
	if in, err = g.Inflows(ctx, spread); err != nil {
		return nil, err
	}
	states := make([]schema.StoredRankState, n)
	for u, links := range r.web.links {
		states[u].In, states[u].Out = in[u], len(links)
		if len(links) > 0 {
			states[u].Pushed = spread[u]
		}
		for _, t := range links {
			states[t].Inlinks++
		}
	}
	for u := range states {
		states[u].Rank = states[u].Estimate()
	}
	return states, nil
}

// chunk is how many URLs are written in a transaction.
const chunk = 500

func (r *rig) write(ctx context.Context) error {
	states, err := r.atRest(ctx)
	if err != nil {
		return err
	}
	if err := r.setTolerance(ctx, r.tolerance); err != nil {
		return err
	}
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(4)
	for first := 0; first < len(states); first += chunk {
		g.Go(func() error {
			_, err := r.db.Run(ctx, func(tx *txn.Txn) error {
				for u := first; u < min(first+chunk, len(states)); u++ {
					r.writeURL(tx, uint32(u), &states[u])
				}
				return nil
			})
			return err
		})
	}
	return g.Wait()
}

func (r *rig) writeURL(tx *txn.Txn, u uint32, m *schema.StoredRankState) {
	if m.Inlinks == 0 && m.Out == 0 {
		return
	}
	row := schema.URLRow(urlOf(u))
	tx.Set(row, schema.RankState, m.Encode())
	if m.Out == 0 {
		return
	}
	edges := schema.StoredEdges{}
	for _, t := range r.web.links[u] {
		edges.Targets = append(edges.Targets, schema.URLRow(urlOf(t)))
	}
	slices.Sort(edges.Targets)
	tx.Set(row, schema.Edges, edges.Encode())
	r.writePage(tx, u)
}

// writePage writes what document would have written of a page.
func (r *rig) writePage(tx *txn.Txn, u uint32) {
	row := schema.URLRow(urlOf(u))
	links := make([]schema.TargetLinks, len(r.web.links[u]))
	for i, t := range slices.Sorted(slices.Values(r.web.links[u])) {
		links[i] = schema.TargetLinks{Target: urlOf(t), Anchors: []string{"x"}}
	}
	tx.Set(row, schema.State, schema.URLState{Outcome: page.Page}.Encode())
	tx.Set(row, schema.Links, schema.EncodeLinks(links))
}

func (r *rig) setTolerance(ctx context.Context, tolerance float64) error {
	_, err := r.db.Run(ctx, func(tx *txn.Txn) error {
		tx.Set(schema.AppRow, schema.RankTolerance, schema.EncodeTolerance(tolerance))
		return nil
	})
	return err
}

// change gives pages other links and wakes rank at them, as document does.
func (r *rig) change(ctx context.Context, pages []uint32, all bool) error {
	for part := range slices.Chunk(pages, chunk) {
		for _, u := range part {
			r.web.change(u, all)
		}
		_, err := r.db.Run(ctx, func(tx *txn.Txn) error {
			for _, u := range part {
				r.writePage(tx, u)
				tx.Notify(schema.URLRow(urlOf(u)), schema.Push)
			}
			return nil
		})
		if err != nil {
			return fmt.Errorf("change links: %w", err)
		}
	}
	return nil
}

// run runs rank until all work is done, and returns its work.
func (r *rig) run(ctx context.Context) (Work, error) {
	r.done = Work{}
	began := time.Now()
	if err := r.stepper.Drain(ctx, nil); err != nil {
		return Work{}, fmt.Errorf("run rank: %w", err)
	}
	r.done.Took = time.Since(began).Seconds()
	return r.done, nil
}

// states reads the rank states of all URLs.
func (r *rig) states(ctx context.Context) ([]schema.StoredRankState, error) {
	tx, err := r.db.Begin(ctx)
	if err != nil {
		return nil, err
	}
	defer tx.Rollback()
	list := make([]schema.StoredRankState, len(r.web.links))
	for u := range list {
		list[u] = schema.NoRankState
	}
	err = tx.Scan(ctx, schema.GroupRank, "", "", func(row string, cols []txn.Version) error {
		u, err := numberOf(row)
		if err != nil {
			return err
		}
		for _, c := range cols {
			if c.Name == schema.RankState.Name {
				if list[u], err = schema.DecodeRankState(c.Data); err != nil {
					return err
				}
			}
		}
		return nil
	})
	return list, err
}

// numberOf undoes urlOf for a row.
func numberOf(row string) (uint32, error) {
	u, err := schema.ParseURLRow(row)
	if err != nil {
		return 0, err
	}
	var site, at uint32
	if _, err := fmt.Sscanf(string(u), "https://s%d.example/p%d", &site, &at); err != nil {
		return 0, fmt.Errorf("%s is not of the generated web: %w", u, err)
	}
	return site*sitePages + at, nil
}
