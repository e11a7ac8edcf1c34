package rankbench

import (
	"context"
	"slices"
)

// Local is what changes of single pages touched.
type Local struct {
	What    string    `json:"what"`
	Changes int       `json:"changes"`
	Rows    Quantiles `json:"rows"`
	Pushes  Quantiles `json:"pushes"`
	Edges   Quantiles `json:"edges"`
	Millis  Quantiles `json:"ms"` // of the runs of rank
}

// Quantiles of a distribution.
type Quantiles struct {
	Median float64 `json:"median"`
	P99    float64 `json:"p99"`
	Max    float64 `json:"max"`
}

func quantiles(list []float64) Quantiles {
	if len(list) == 0 {
		return Quantiles{}
	}
	s := slices.Sorted(slices.Values(list))
	return Quantiles{s[len(s)/2], s[len(s)*99/100], s[len(s)-1]}
}

// local changes the links of random pages, one after the other, and has rank follow
// each before the next.
func (r *rig) local(ctx context.Context, what string, changes int, all bool) (*Local, error) {
	var rows, pushes, edges, ms []float64
	for _, u := range r.web.pages(changes) {
		if err := r.change(ctx, []uint32{u}, all); err != nil {
			return nil, err
		}
		w, err := r.run(ctx)
		if err != nil {
			return nil, err
		}
		rows, pushes = append(rows, float64(w.Rows)), append(pushes, float64(w.Pushes))
		edges, ms = append(edges, float64(w.Edges)), append(ms, 1000*w.Took)
	}
	return &Local{what, len(rows), quantiles(rows), quantiles(pushes), quantiles(edges), quantiles(ms)}, nil
}
