// Package pipelinebench measures a replay beside one pass that only indexes, and
// beside a replay that keeps no ranks.
package pipelinebench

import (
	"context"
	"fmt"
	"io"
	"strings"

	"indexer/bench/measure"
	"indexer/repository"
)

// Options of Run.
type Options struct {
	Files  []string
	Rounds int                // floor, pipeline and pipeline without ranks, in turn, this often; medians are reported
	Repo   repository.Options // its Workers are also those of the loaders and of the floor
	Log    io.Writer          // a line a round
}

// Result compares a replay into a fresh directory with the floor, and with one
// that keeps no ranks.
type Result struct {
	Pages    int       `json:"pages"` // per round
	Floor    []float64 `json:"floor_seconds"`
	Pipeline []float64 `json:"pipeline_seconds"`
	Unranked []float64 `json:"without_ranks_seconds"`
	// FloorRate, PipelineRate and UnrankedRate are pages per second, by the median round.
	FloorRate    float64 `json:"floor_pages_per_second"`
	PipelineRate float64 `json:"pipeline_pages_per_second"`
	UnrankedRate float64 `json:"without_ranks_pages_per_second"`
	Ratio        float64 `json:"ratio"`       // PipelineRate / FloorRate
	RanksRatio   float64 `json:"ranks_ratio"` // PipelineRate / UnrankedRate
	// PipelineCPU and UnrankedCPU are seconds of processor time. RanksCPURatio is
	// UnrankedCPU / PipelineCPU; other work on the machine changes it less than
	// RanksRatio. All are 0 where the system does not tell.
	PipelineCPU   []float64 `json:"pipeline_cpu_seconds"`
	UnrankedCPU   []float64 `json:"without_ranks_cpu_seconds"`
	RanksCPURatio float64   `json:"ranks_cpu_ratio"`
	// Stages tell where the pipeline's workers spent their time in the last round.
	Stages []measure.Stage `json:"stages"`
	// FloorStages do the same for the floor.
	FloorStages         []measure.Stage      `json:"floor_stages"`
	FetchToSearchableMS repository.LatencyMS `json:"fetch_to_searchable_ms"`
}

// Run measures the pages per second of a replay into a fresh index beside the floor:
// one pass that only reads the same files, interprets each page with the same parser,
// and bulk-indexes the texts with the same library, with as many workers. It also
// measures a replay that keeps no ranks; that ratio is what ranks cost. The two
// replays change places from round to round.
func Run(ctx context.Context, o Options) (*Result, error) {
	res := &Result{}
	for round := range max(o.Rounds, 1) {
		floor, err := measure.InTemp(func(dir string) (*measure.Run, error) {
			return measure.ReplayInBulk(ctx, dir, o.Files, o.Repo.Sync, o.Repo.Workers)
		})
		if err != nil {
			return nil, fmt.Errorf("bench pipeline: floor: %w", err)
		}
		var replays [2]*measure.Run // with ranks, without
		for turn := range replays {
			which := (turn + round) % 2
			opts := o.Repo
			opts.WithoutRanks = which == 1
			replays[which], err = measure.InTemp(func(dir string) (*measure.Run, error) {
				return measure.Replay(ctx, dir, o.Files, opts)
			})
			if err != nil {
				return nil, fmt.Errorf("bench pipeline: %w", err)
			}
		}
		res.add(floor, replays[0], replays[1])
		fmt.Fprintf(o.Log, "round %d: floor %.2f s, pipeline %.2f s, without ranks %.2f s\n",
			round+1, floor.Took.Seconds(), replays[0].Took.Seconds(), replays[1].Took.Seconds())
	}
	res.FloorRate = float64(res.Pages) / measure.Median(res.Floor)
	res.PipelineRate = float64(res.Pages) / measure.Median(res.Pipeline)
	res.UnrankedRate = float64(res.Pages) / measure.Median(res.Unranked)
	res.Ratio, res.RanksRatio = res.PipelineRate/res.FloorRate, res.PipelineRate/res.UnrankedRate
	if cpu := measure.Median(res.PipelineCPU); cpu > 0 {
		res.RanksCPURatio = measure.Median(res.UnrankedCPU) / cpu
	}
	return res, nil
}

// add adds a round.
func (r *Result) add(floor, ranked, unranked *measure.Run) {
	r.Pages = floor.Pages
	r.Floor = append(r.Floor, floor.Took.Seconds())
	r.Pipeline = append(r.Pipeline, ranked.Took.Seconds())
	r.PipelineCPU = append(r.PipelineCPU, ranked.CPU.Seconds())
	r.Unranked = append(r.Unranked, unranked.Took.Seconds())
	r.UnrankedCPU = append(r.UnrankedCPU, unranked.CPU.Seconds())
	r.Stages, r.FloorStages, r.FetchToSearchableMS = measure.WithShares(ranked.Stages), measure.WithShares(floor.Stages), ranked.Latency
}

// Text is the result as people read it.
func (r *Result) Text() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%d pages, %d rounds\n", r.Pages, len(r.Pipeline))
	fmt.Fprintf(&b, "floor          %8.0f pages/s\n", r.FloorRate)
	fmt.Fprintf(&b, "pipeline       %8.0f pages/s, %.2f of the floor\n", r.PipelineRate, r.Ratio)
	fmt.Fprintf(&b, "without ranks  %8.0f pages/s: with ranks %.2f of that, by processor time %.2f\n", r.UnrankedRate, r.RanksRatio, r.RanksCPURatio)
	for _, part := range []struct {
		name   string
		stages []measure.Stage
	}{{"floor", r.FloorStages}, {"pipeline", r.Stages}} {
		fmt.Fprintf(&b, "\nwhere the %s's last round went:\n", part.name)
		measure.StagesText(&b, part.stages)
	}
	return b.String()
}
