// Package cli implements the command line and wires the parts of the program together.
// Each command has a file of its own; errors.go maps errors to exit statuses.
//
// Commands write results to standard output, and logs, progress and messages to standard
// error.
//
// Only one process at a time can open a data directory, so commands reach the data in
// different ways:
//
//   - Commands that look inside or maintain call app.ask (asking.go). It runs a question in this
//     process if the directory is free, and otherwise in the process that holds it.
//   - Commands that load call app.openToLoad (openload.go). It waits for the directory, or has a
//     server release it.
//   - Commands that search call app.openSearcher (searcher.go). It opens only the index, which
//     can be read at any time.
//   - A server has a standby (standby.go). It answers with the directory, or from the process
//     that holds it.
//   - On a store that many processes share, status calls app.onlook (onlooker.go). It takes no
//     part in the deployment.
//
// The first two open a session (session.go). If the store is a database, the session is also
// part of a deployment (deployment.go).
package cli

import (
	"cmp"
	"context"
	"io"
	"os"
	"os/signal"
	"slices"
	"syscall"
)

// Main runs the program with its arguments, without the program name, and returns the
// exit status.
//
// The first SIGINT, SIGTERM or SIGHUP ends the context of the command, which completes and
// saves the work in progress and then reports the remaining work (see interruptedError). On
// the second signal, Main returns without waiting, and its caller ends the process.
// Acknowledged writes survive that: a write to the store is acknowledged only once it is
// in the log.
//
// Two signals of one kind count as one if they arrive before this program has seen the
// first, because the kernel and the Go runtime keep one bit for each kind. With every
// processor busy, that window may last some ten milliseconds. A command prints "interrupt
// again to stop at once" when it has seen the first signal; a signal after that line is
// not lost.
func Main(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	if isPDFChild(args) {
		return runPDFChild(ctx, stdin, stdout, stderr)
	}
	// Without the signal, writing to a closed pipe is an ordinary error, so
	// `indexer export | head` closes its data directory properly.
	signal.Ignore(syscall.SIGPIPE)
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, interrupts()...)
	defer signal.Stop(signals)
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)

	done := make(chan int, 1)
	go func() { done <- run(ctx, args, stdin, stdout, stderr) }()
	for seen := 0; ; {
		select {
		case status := <-done:
			return status
		case <-signals:
			if seen++; seen > 1 {
				return statusInterrupted
			}
			cancel(errInterrupted)
		}
	}
}

// interrupts returns the signals that interrupt a command. They include SIGHUP, which a
// terminal sends when it closes, unless the program was started with SIGHUP ignored, as by
// nohup: Notify would undo that.
func interrupts() []os.Signal {
	s := []os.Signal{os.Interrupt, syscall.SIGTERM}
	if !signal.Ignored(syscall.SIGHUP) {
		s = append(s, syscall.SIGHUP)
	}
	return s
}

func run(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	a := newApp(stdin, stdout, stderr)
	a.process = slices.Equal(args, os.Args[1:])
	root := a.rootCommand()
	help := &helpWriter{to: stdout}
	root.SetOut(help)
	root.SetArgs(withCrawl(root, args))
	cmd, err := root.ExecuteContextC(ctx)
	err = cmp.Or(err, help.err)
	return report(withInterrupt(ctx, err), stderr, a.isJSON() || err != nil && a.wantsJSON(cmd, args))
}
