package pipelinebench

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"runtime/pprof"
	"time"

	"github.com/webindexer/indexer/bench/measure"
	"github.com/webindexer/indexer/bench/profile"
	"github.com/webindexer/indexer/loader/replay"
	"github.com/webindexer/indexer/repository"
)

// Kinds of sides. Each is measured in a process of its own, so that its processor time,
// memory and written bytes are its own.
const (
	Pipeline = "pipeline" // the whole pipeline
	unranked = "unranked" // the pipeline without ranks
	bulk     = "bulk"     // our parser and our index files, and nothing else
	Plain    = "plain"    // a straightforward indexer with FTS5
)

// Side is one measured load.
type Side struct {
	Pages int `json:"responses"`
	// Seconds and CPU are the time and the processor time from the first response until
	// everything is searchable and the directory is closed; OpenSeconds and OpenCPU
	// those before it.
	Seconds     float64 `json:"seconds"`
	CPU         float64 `json:"cpu_seconds"`
	OpenSeconds float64 `json:"open_seconds"`
	OpenCPU     float64 `json:"open_cpu_seconds"`
	// Parts divides the processor time by what it was spent on, opening included.
	Parts []profile.Part `json:"parts"`
	// StageParts divides it by the purpose of the work.
	StageParts []profile.Part `json:"stage_parts"`
	// Stages tells where workers spent their time, waiting included.
	Stages []measure.Stage `json:"stages"`

	Written   int64          `json:"written_bytes"`
	Kept      int64          `json:"kept_bytes"` // what the directory grew by
	Allocated uint64         `json:"allocated_bytes"`
	Objects   uint64         `json:"allocated_objects"`
	Heap      measure.Heap   `json:"heap"`
	HeapParts []profile.Part `json:"heap_parts"` // bytes in use when all was loaded
	Resident  measure.Memory `json:"resident"`

	FetchToSearchableMS repository.LatencyMS `json:"fetch_to_searchable_ms"`
}

// SideOptions of RunSide.
type SideOptions struct {
	Kind    string
	Dir     string // may have something already
	Files   []string
	Repo    repository.Options
	Profile string // keeps the processor profile in this file; "" for none
}

// RunSide measures a side in this process.
func RunSide(ctx context.Context, o SideOptions) (side *Side, err error) {
	var cpu bytes.Buffer
	if err := pprof.StartCPUProfile(&cpu); err != nil {
		return nil, err
	}
	defer pprof.StopCPUProfile() // again has no effect
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	written := measure.Written()
	kept, err := measure.DiskBytes(o.Dir)
	if err != nil {
		return nil, err
	}
	heap := measure.WatchHeap()
	defer heap.Close()
	side = &Side{}
	began, used := time.Now(), measure.ProcessorTime()
	side.Resident, err = measure.PeakMemory(func() error { return o.load(ctx, side) })
	if err != nil {
		return nil, err
	}
	side.Seconds = time.Since(began).Seconds() - side.OpenSeconds
	side.CPU = (measure.ProcessorTime() - used).Seconds() - side.OpenCPU
	pprof.StopCPUProfile()
	side.Heap = heap.Take()
	runtime.ReadMemStats(&after)
	side.Allocated, side.Objects = after.TotalAlloc-before.TotalAlloc, after.Mallocs-before.Mallocs
	side.Written = measure.Written() - written
	now, err := measure.DiskBytes(o.Dir)
	if err != nil {
		return nil, err
	}
	side.Kept = now - kept
	if o.Profile != "" {
		if err := os.WriteFile(o.Profile, cpu.Bytes(), 0o600); err != nil {
			return nil, err
		}
	}
	samples, err := profile.Read(&cpu)
	if err != nil {
		return nil, err
	}
	side.Parts, side.StageParts = profile.Parts(samples, 1, rules), profile.Stages(samples, 1, stagePackages)
	return side, nil
}

// load loads the files into the directory.
func (o *SideOptions) load(ctx context.Context, side *Side) error {
	switch o.Kind {
	case Pipeline, unranked:
		o.Repo.WithoutRanks = o.Kind == unranked
		return o.loadPipeline(ctx, side)
	case bulk:
		run, err := measure.ReplayInBulk(ctx, o.Dir, o.Files, o.Repo.Sync, o.Repo.Workers)
		if err == nil {
			side.Pages, side.Stages = run.Responses, run.Stages
		}
		return err
	case Plain:
		n, err := loadPlain(ctx, o.Dir, o.Files, o.Repo.Workers)
		side.Pages = n
		return err
	}
	return fmt.Errorf("there is no side %q", o.Kind)
}

// loadPipeline replays the files into a repository, and closes it when everything is
// searchable.
func (o *SideOptions) loadPipeline(ctx context.Context, side *Side) (err error) {
	began, used := time.Now(), measure.ProcessorTime()
	r, err := repository.Open(ctx, o.Dir, o.Repo)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, r.Close()) }()
	side.OpenSeconds, side.OpenCPU = time.Since(began).Seconds(), (measure.ProcessorTime() - used).Seconds()
	var progress replay.Progress
	if err := replay.Run(ctx, r, measure.Inputs(o.Files), replay.Options{Loaders: o.Repo.Workers}, &progress); err != nil {
		return err
	}
	if err := r.Quiesce(ctx); err != nil {
		return err
	}
	live := r.Live()
	side.Pages, side.Stages, side.FetchToSearchableMS = int(progress.Fetches.Load()), measure.StagesOf(live), live.FetchToSearchableMS
	var heap bytes.Buffer
	if err := pprof.Lookup("heap").WriteTo(&heap, 0); err != nil {
		return err
	}
	samples, err := profile.Read(&heap)
	if err == nil {
		side.HeapParts = profile.Parts(samples, inUse, rules)
	}
	return err
}

// inUse is the value of a heap profile that counts bytes in use.
const inUse = 3

// apart measures a side in a process of its own: this program again, with the hidden
// command "side". settings are arguments that every such process gets.
func apart(ctx context.Context, o SideOptions, settings []string) (*Side, error) {
	args := append([]string{"side", "--kind", o.Kind, "--data", o.Dir, "--profile", o.Profile}, settings...)
	cmd, err := measure.Self(ctx, append(append(args, "--"), o.Files...)...)
	if err != nil {
		return nil, err
	}
	side, err := sideFrom(cmd)
	if err != nil {
		return nil, fmt.Errorf("load with %s in a process of its own: %w", o.Kind, err)
	}
	return side, nil
}

// sideFrom runs a command that prints a side.
func sideFrom(cmd *exec.Cmd) (*Side, error) {
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, os.Stderr
	if err := cmd.Run(); err != nil {
		return nil, err
	}
	side := &Side{}
	return side, json.Unmarshal(out.Bytes(), side)
}
