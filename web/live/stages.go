package live

import (
	"slices"

	"github.com/webindexer/indexer/notify"
)

// stage is a column of the pipeline: observers that work side by side.
type stage struct {
	Name      string
	Observers []string
}

// drawing is the pipeline in the order in which a page passes through it
// (docs/observers.md). Observers that are missing here share a column at the end.
var drawing = []stage{
	{"parse", []string{"document", "render", "invalidate"}},
	{"cluster and link", []string{"cluster", "links"}},
	{"propagate", []string{"spread", "forward"}},
	{"rank", []string{"rank", "rerank", "settle"}},
	{"write the index", []string{"index", "refresh", "touch", "count"}},
	{"find new URLs", []string{"discover", "prefetch", "relook", "ready"}},
}

// stagesOf sorts the observers into stages.
func stagesOf(all []notify.Stats) (list []stage) {
	left := make([]string, 0, len(all))
	for _, o := range all {
		left = append(left, o.Observer)
	}
	for _, s := range drawing {
		there := stage{Name: s.Name}
		for _, o := range s.Observers {
			if i := slices.Index(left, o); i >= 0 {
				there.Observers = append(there.Observers, o)
				left = slices.Delete(left, i, i+1)
			}
		}
		if len(there.Observers) > 0 {
			list = append(list, there)
		}
	}
	if len(left) > 0 {
		list = append(list, stage{"other", left})
	}
	return list
}
