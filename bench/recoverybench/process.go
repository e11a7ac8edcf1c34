package recoverybench

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"time"
)

// build makes the program from the module in which the benchmark is run.
func build(ctx context.Context, file string) error {
	out, err := exec.CommandContext(ctx, "go", "build", "-o", file, "github.com/webindexer/indexer").CombinedOutput()
	if err != nil {
		return fmt.Errorf("build the program (or name one with --program): %w\n%s", err, out)
	}
	return nil
}

// endWithin bounds how long a process may take to end on request.
const endWithin = 15 * time.Second

// child is a process of the deployment.
type child struct {
	name  string
	log   string // the file with all that it prints
	cmd   *exec.Cmd
	told  atomic.Bool   // asked to end, or free to end on its own
	ended chan struct{} // closed when it has
	err   error         // once it has ended
}

// command is the program with some arguments. It ignores the settings of the person who
// runs the benchmark, both in the environment and in config.yaml.
func (d *deployment) command(ctx context.Context, store string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, d.Program, args...)
	cmd.Dir = d.dir
	for _, v := range os.Environ() {
		if !strings.HasPrefix(v, "INDEXER_") {
			cmd.Env = append(cmd.Env, v)
		}
	}
	if store != "" { // in the environment, so that its password is in no list of processes
		cmd.Env = append(cmd.Env, "INDEXER_BACKLOG="+strconv.Itoa(d.Backlog), "INDEXER_STORE="+store, "INDEXER_ORACLE="+strings.Join(d.addresses, ","))
	}
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
	cmd.WaitDelay = endWithin
	return cmd
}

// start starts a process on the delayed database. If it ends too early, the run has
// failed.
func (d *deployment) start(name string, stdin io.Reader, args ...string) (*child, error) {
	d.started++
	c := &child{name: name, log: filepath.Join(d.dir, fmt.Sprintf("%s-%d.log", name, d.started)), ended: make(chan struct{})}
	file, err := os.Create(c.log)
	if err != nil {
		return nil, err
	}
	c.cmd = d.command(d.ctx, d.far, append([]string{"--data", d.data(name)}, args...)...)
	c.cmd.Stdin, c.cmd.Stdout, c.cmd.Stderr = stdin, file, file
	if err := errors.Join(c.cmd.Start(), file.Close()); err != nil {
		return nil, fmt.Errorf("start %s: %w", name, err)
	}
	d.work.Go(func() {
		if err := c.cmd.Wait(); err != nil {
			c.err = fmt.Errorf("%s: %w\n%s", name, err, c.said())
		}
		close(c.ended)
		if !c.told.Load() && d.ctx.Err() == nil {
			d.fail(errors.Join(fmt.Errorf("%s has ended too early:\n%s", name, c.said()), c.err))
		}
	})
	return c, nil
}

// maxSaid bounds what an error quotes of a process.
const maxSaid = 4 << 10

func (c *child) said() string {
	text, err := os.ReadFile(c.log)
	if err != nil {
		return err.Error()
	}
	return string(text[max(0, len(text)-maxSaid):])
}

func (c *child) hasEnded() bool {
	select {
	case <-c.ended:
		return true
	default:
		return false
	}
}

// kill is the loss of the machine.
func (c *child) kill() {
	c.told.Store(true)
	_ = c.cmd.Process.Kill() // only fails if it has ended
	<-c.ended
}

// finish waits for a process that ends on its own.
func (c *child) finish(ctx context.Context) error {
	select {
	case <-c.ended:
		return c.err
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// tool runs a command to its end, and returns what it prints on standard output and on
// standard error. The database is near, or with store "" there is none.
func (d *deployment) tool(ctx context.Context, store string, args ...string) (out, said string, err error) {
	cmd := d.command(ctx, store, args...)
	var stdout, stderr strings.Builder
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Run(); err != nil {
		text := stderr.String()
		return "", "", fmt.Errorf("indexer %s: %w\n%s", strings.Join(args, " "), err, text[max(0, len(text)-maxSaid):])
	}
	return stdout.String(), stderr.String(), nil
}
