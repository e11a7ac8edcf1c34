package clusterbench

import (
	"cmp"
	"encoding/xml"
	"io"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/webindexer/indexer/txn"
)

// plainClusters is the definition, document by document.
func plainClusters(o *Options, n int) []uint32 {
	var leaders [3]map[uint32]uint32
	for t := range leaders {
		leaders[t] = map[uint32]uint32{}
	}
	clusters := make([]uint32, n)
	for id := range n {
		d := o.draw(id)
		clusters[id] = d.id
		for t, k := range d.keys {
			if first, ok := leaders[t][k]; ok {
				clusters[id] = clusters[first]
				break
			}
			leaders[t][k] = d.id
		}
	}
	return clusters
}

// TestBatch: the job finds the clusters of the definition, even if its files do not fit
// into memory.
func TestBatch(t *testing.T) {
	for _, atOnce := range []int{7, 100, sortedAtOnce} {
		o := &Options{Documents: 1000, Seed: 3}
		b, err := newBatch(filepath.Join(t.TempDir(), "batch"), o)
		if err != nil {
			t.Fatal(err)
		}
		b.atOnce = atOnce
		const fresh = 100
		_, n, err := b.median(t.Context(), fresh)
		if err != nil {
			t.Fatal(err)
		}
		want := plainClusters(o, o.Documents+fresh)
		id, found := 0, map[uint32]bool{}
		err = readRecords(b.path("clusters0"), func(r record) error {
			if int(r[0]) != id || r[1] != want[id] {
				t.Fatalf("%d at once: line %d says %v, want cluster %d", atOnce, id, r, want[id])
			}
			found[r[1]] = true
			id++
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		if id != len(want) || n != len(found) {
			t.Errorf("%d at once: %d documents in %d clusters, want %d in %d", atOnce, id, n, len(want), len(found))
		}
		if size := float64(id) / float64(n); size < 3 || size > 3.7 {
			t.Errorf("the average cluster has %.2f documents; the paper's has 3.3", size)
		}
	}
}

func TestSorted(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	var want []record
	s := &sorter{t.TempDir(), 10}
	var files []string
	for _, name := range []string{"a", "b"} {
		var list []record
		for range 55 {
			list = append(list, record{rng.Uint32N(1000), rng.Uint32N(20)})
		}
		want, files = append(want, list...), append(files, filepath.Join(s.dir, name))
		if err := writeRecords(files[len(files)-1], list); err != nil {
			t.Fatal(err)
		}
	}
	slices.SortFunc(want, func(a, b record) int { return cmp.Or(cmp.Compare(a[1], b[1]), cmp.Compare(a[0], b[0])) })
	var got []record
	if err := s.sorted(t.Context(), files, 1, func(r record) { got = append(got, r) }); err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
	if err := s.sorted(t.Context(), []string{filepath.Join(s.dir, "none")}, 1, nil); err == nil {
		t.Error("a file that does not exist was sorted")
	}
}

// TestRun: both sides run, and the audit of the observer's clusters passes.
func TestRun(t *testing.T) {
	for _, mode := range []txn.Mode{txn.OnePhase, txn.TwoPhase} {
		res, err := Run(t.Context(), Options{
			Documents: 500, Percents: []float64{1, 10}, Hour: time.Hour, Slice: 200 * time.Millisecond, Workers: 2, Commit: mode, Log: io.Discard,
		})
		if err != nil {
			t.Fatal(err)
		}
		if len(res.Rows) != 2 || res.Rows[0].Observer.P50 <= 0 || res.Rows[0].Batch.P50 <= 0 || res.Saturation <= 0 {
			t.Errorf("%+v", res)
		}
		if err := xml.Unmarshal([]byte(res.SVG()), new(struct{})); err != nil {
			t.Errorf("the plot: %v", err)
		}
	}
}

// TestAudit: a document that follows the wrong leader is found.
func TestAudit(t *testing.T) {
	o := &Options{Documents: 100, Workers: 1}
	err := withIncremental(t.Context(), t.TempDir(), o, func(i *incremental) error {
		if err := i.audit(t.Context()); err != nil {
			t.Errorf("before: %v", err)
		}
		_, err := i.db.Run(t.Context(), func(tx *txn.Txn) error {
			tx.Set(docRow(50), leaderColumn, encode(99))
			return nil
		})
		if err != nil {
			return err
		}
		if err := i.audit(t.Context()); err == nil || !strings.Contains(err.Error(), "document 50 follows 99") {
			t.Errorf("after: %v", err)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// TestCompare: the batch job wins where the observer is slower or cannot keep up, and only if it
// keeps up itself.
func TestCompare(t *testing.T) {
	unbounded := Delay{Unbounded: true}
	for _, c := range []struct {
		rows   []Row
		ratios []float64
		cross  float64
	}{
		{nil, nil, 0},
		{[]Row{{Percent: 1, Observer: Delay{P50: 2}, Batch: Delay{P50: 10}}}, []float64{5}, 0},
		{[]Row{
			{Percent: 1, Observer: Delay{P50: 2}, Batch: Delay{P50: 10}},
			{Percent: 5, Observer: Delay{P50: 20}, Batch: Delay{P50: 10}},
			{Percent: 9, Observer: unbounded, Batch: Delay{P50: 10}},
		}, []float64{5, 0.5, 0}, 5},
		{[]Row{{Percent: 3, Observer: unbounded, Batch: Delay{P50: 10}}}, []float64{0}, 3},
		{[]Row{{Percent: 3, Observer: Delay{P50: 20}, Batch: unbounded}}, []float64{0}, 0},
		{[]Row{{Percent: 3, Observer: unbounded, Batch: unbounded}}, []float64{0}, 0},
	} {
		r := &Result{Rows: c.rows}
		r.compare()
		var got []float64
		for _, row := range r.Rows {
			got = append(got, row.Ratio)
		}
		if r.CrossOver != c.cross || !slices.Equal(got, c.ratios) {
			t.Errorf("%+v: cross-over %g, want %g; ratios %g, want %g", c.rows, r.CrossOver, c.cross, got, c.ratios)
		}
	}
}

func TestUnboundedPlot(t *testing.T) {
	r := &Result{Rows: []Row{{Percent: 1, Observer: Delay{Unbounded: true}, Batch: Delay{Unbounded: true}}}}
	if err := xml.Unmarshal([]byte(r.SVG()), new(struct{})); err != nil {
		t.Error(err)
	}
	if text := r.Text(); !strings.Contains(text, "∞") {
		t.Error(text)
	}
}
