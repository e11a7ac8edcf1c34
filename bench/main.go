// Bench measures the program against baselines, which run on the same machine within the
// same minutes:
//
//	go run ./bench NAME
//
// It is not part of the program indexer. It writes results to standard output and progress
// to standard error. Its exit status is 0 when it is done, 1 when it failed, 2 for bad
// usage, and 130 when it was interrupted; `go run` turns all but 0 into 1.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"
)

func main() { os.Exit(run(context.Background(), os.Args[1:], os.Stdin, os.Stdout, os.Stderr)) }

// run runs the program and returns its exit status. The first interrupt ends what is
// measured and removes its temporary directories; the second one ends the process.
func run(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	ctx, stop := signal.NotifyContext(ctx, os.Interrupt, syscall.SIGTERM)
	defer stop()
	defer context.AfterFunc(ctx, stop)()
	a := &app{stdin: stdin, stdout: stdout, stderr: stderr}
	root := a.rootCommand()
	root.SetArgs(args)
	err := root.ExecuteContext(ctx)
	switch {
	case err == nil:
		return 0
	case ctx.Err() != nil:
		_, _ = fmt.Fprintln(stderr, "bench: interrupted") // there is nowhere else to report it
		return 130
	}
	_, _ = fmt.Fprintln(stderr, "bench:", err)
	if bad, ok := errors.AsType[*usageError](err); ok {
		_, _ = fmt.Fprintf(stderr, "  see `go run ./%s --help`\n", bad.command)
	}
	if isUsage(err) {
		return 2
	}
	return 1
}
