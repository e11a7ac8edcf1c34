// Package cli is the command line: it wires the parts of the program together.
// One file holds each command; errors.go decides on exit statuses.
//
// Results go to standard output; logs, progress and messages to standard error.
package cli

import (
	"context"
	"io"
	"os"
	"os/signal"
	"slices"
	"syscall"
)

// Main runs the program with its arguments, without its name, and returns the
// exit status.
//
// The first SIGINT or SIGTERM ends the context of the command, which finishes
// and saves what is under way, and then says what is left (see interruptedError).
// With the second Main returns without waiting: it is for its caller to end the
// process. All that was acknowledged survives that (a write to the store counts
// once it is in the log).
//
// Two signals of a kind that come before this program gets to see the first are one:
// the kernel and the Go runtime keep a bit for each kind, not a number. With every
// processor busy that may be some ten milliseconds. A command says "interrupt again to
// stop at once" when it has seen the first; one that comes after that line is not lost.
func Main(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	// Writing to a closed pipe is an error like others then, and no sudden death:
	// `indexer export | head` closes its data directory in good order.
	signal.Ignore(syscall.SIGPIPE)
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	defer signal.Stop(signals)
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)

	done := make(chan int, 1)
	go func() { done <- run(ctx, args, stdin, stdout, stderr) }()
	for interrupts := 0; ; {
		select {
		case status := <-done:
			return status
		case <-signals:
			if interrupts++; interrupts > 1 {
				return statusInterrupted
			}
			cancel(errInterrupted)
		}
	}
}

func run(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	a := newApp(stdin, stdout, stderr)
	a.process = slices.Equal(args, os.Args[1:])
	root := a.rootCommand()
	root.SetArgs(withCrawl(root, args))
	err := root.ExecuteContext(ctx)
	return report(withInterrupt(ctx, err), stderr, a.isJSON() || err != nil && a.wantsJSON(args))
}
