package scalebench

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"syscall"

	"github.com/webindexer/indexer/bench/measure"
	"github.com/webindexer/indexer/repository"
	"github.com/webindexer/indexer/store/postgres"
)

// settingVariable has the database, so that its password is in no list of processes.
const settingVariable = "INDEXER_BENCH_STORE"

// process runs the worker in a process of its own until ctx ends.
func (w *worker) process(ctx context.Context, setting string) error {
	request, err := json.Marshal(w)
	if err != nil {
		return err
	}
	until, end := context.WithCancel(ctx)
	defer end()
	cmd, err := measure.Self(until, "scaling-worker", string(request))
	if err != nil {
		return err
	}
	cmd.Env = append(os.Environ(), settingVariable+"="+setting)
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
	cmd.WaitDelay = 2 * leaveWithin
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	if err := w.follow(out); err != nil && ctx.Err() == nil {
		end() // it may wait for a reader
		return errors.Join(fmt.Errorf("read what a worker reports: %w", err), cmd.Wait())
	}
	if err := cmd.Wait(); err != nil && ctx.Err() == nil {
		return fmt.Errorf("a worker has ended: %w", err)
	}
	return nil
}

// follow reads the reports of the worker's process until it ends.
func (w *worker) follow(out io.Reader) error {
	for reports := json.NewDecoder(out); ; {
		var p Progress
		if err := reports.Decode(&p); err == io.EOF {
			return nil
		} else if err != nil {
			return err
		}
		w.report(p)
	}
}

// RunWorker is the worker's process.
func RunWorker(ctx context.Context, request string, out io.Writer) (err error) {
	var w worker
	if err := json.Unmarshal([]byte(request), &w); err != nil {
		return err
	}
	table, err := postgres.Open(ctx, os.Getenv(settingVariable), repository.SharedGroups(), postgres.Options{})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, table.Close()) }()
	enc := json.NewEncoder(out)
	w.report = func(p Progress) { _ = enc.Encode(p) } // if the reader is gone, the process ends
	return w.run(ctx, &slow{inner: table})
}
