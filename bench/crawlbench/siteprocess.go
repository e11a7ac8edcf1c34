package crawlbench

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"time"

	"github.com/webindexer/indexer/bench/measure"
)

// The server of the generated site runs as a child process: this program again, with
// the hidden command "site SHAPE". It writes the URL of page 0 in a line to standard
// output and serves until its standard input ends. That input also ends when the
// parent is killed.

// shape is the site as an argument.
func (s *site) shape() string { return fmt.Sprintf("%d,%d,%d,%d", s.pages, s.links, s.tree, s.bytes) }

// ServeSite is the child. It ends with its input or its context.
func ServeSite(ctx context.Context, shape string, in io.Reader, out io.Writer) error {
	var pages, links, tree, size int
	if n, _ := fmt.Sscanf(shape, "%d,%d,%d,%d", &pages, &links, &tree, &size); n != 4 || pages < 1 || links < 0 || tree < 0 || size < 0 {
		return fmt.Errorf("site: %q is not PAGES,LINKS,TREE,BYTES", shape)
	}
	return newSite(pages, links, tree, size).serve(func(seed string) error {
		if _, err := fmt.Fprintln(out, seed); err != nil {
			return err
		}
		ended := make(chan error, 1)
		go func() { // ends with the input, at the latest with the process
			_, err := io.Copy(io.Discard, in)
			ended <- err
		}()
		select {
		case err := <-ended:
			return err
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	})
}

// serveApart runs the site in a child process while fn runs, which is given the URL
// of page 0. It returns the processor time that the child used.
func (s *site) serveApart(ctx context.Context, fn func(seed string) error) (used time.Duration, err error) {
	cmd, stop, out, err := s.start(ctx)
	if err != nil {
		return 0, fmt.Errorf("serve the site to crawl: %w", err)
	}
	seed, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		err = fmt.Errorf("no URL came from the process that serves the site to crawl: %w", err)
	} else {
		err = fn(strings.TrimSpace(seed))
	}
	err = errors.Join(err, stop.Close())
	if werr := cmd.Wait(); werr != nil {
		err = errors.Join(err, fmt.Errorf("serve the site to crawl: %w", werr))
	}
	return cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime(), err
}

// start starts the child, which ends when stop is closed.
func (s *site) start(ctx context.Context) (cmd *exec.Cmd, stop io.Closer, out io.Reader, err error) {
	if cmd, err = measure.Self(ctx, "site", s.shape()); err != nil {
		return nil, nil, nil, err
	}
	cmd.Stderr = os.Stderr
	cmd.WaitDelay = 10 * time.Second
	if stop, err = cmd.StdinPipe(); err != nil {
		return nil, nil, nil, err
	}
	if out, err = cmd.StdoutPipe(); err != nil {
		return nil, nil, nil, err
	}
	return cmd, stop, out, cmd.Start()
}
