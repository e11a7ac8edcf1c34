package pdf

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"sync"
	"time"
)

// child is a process that reads documents.
type child struct {
	cmd   *exec.Cmd
	to    io.WriteCloser
	from  *bufio.Reader
	ended func() error // waits for the end of the process
}

// start starts a child and waits until it can read documents.
func (r *Reader) start(ctx context.Context) (*child, error) {
	cmd, err := r.command()
	if err != nil {
		return nil, err
	}
	detach(cmd)
	to, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	from, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	c := &child{cmd: cmd, to: to, from: bufio.NewReader(from), ended: sync.OnceValue(cmd.Wait)}
	limits := usual
	limits.processor *= 4 // it starts once for many documents
	k, data, err := c.exchange(ctx, limits, func() (kind, []byte, error) { return readMessage(c.from, limits.result) })
	switch {
	case err == nil && k == kindReady:
		return c, nil
	case err == nil && k == kindFailed:
		err = errors.New(string(data))
	case err == nil:
		err = fmt.Errorf("%w: kind %q", errMessage, k)
	}
	c.kill()
	return nil, notOfDocument(err)
}

// notOfDocument keeps the reason why no child could be started from being mistaken for an error
// of the document that needed the child.
func notOfDocument(err error) error {
	if _, ok := errors.AsType[Unreadable](err); ok {
		return errors.New(err.Error())
	}
	return err
}

// read makes the child read a document. usable reports whether the child can read another one.
func (c *child) read(ctx context.Context, body []byte, l limits) (html []byte, usable bool, err error) {
	k, data, err := c.exchange(ctx, l, func() (kind, []byte, error) {
		if err := writeMessage(c.to, kindDocument, body); err != nil {
			return 0, nil, err
		}
		return readMessage(c.from, l.result)
	})
	switch {
	case err != nil && ctx.Err() != nil:
		return nil, false, context.Cause(ctx)
	case err != nil:
		return nil, false, err
	}
	switch k {
	case kindHTML:
		return data, true, nil
	case kindUnreadable:
		return nil, true, Unreadable(data)
	case kindFailed:
		return nil, false, fmt.Errorf("the process that reads PDF documents failed: %s", data)
	}
	return nil, false, Unreadable("the process that read it wrote what cannot be understood")
}

// exchange calls talk, which talks with the child, and kills the child once ctx has ended or a
// limit is reached. If the child ended, the error says why.
func (c *child) exchange(ctx context.Context, l limits, talk func() (kind, []byte, error)) (kind, []byte, error) {
	done, verdict := make(chan struct{}), make(chan error, 1)
	go func() { verdict <- c.watch(ctx, l, done) }()
	k, data, err := talk()
	close(done)
	if cut := <-verdict; cut != nil {
		return 0, nil, cut
	}
	if err != nil {
		c.kill()
		return 0, nil, Unreadable(fmt.Sprintf("the process that read it ended: %v", c.cmd.ProcessState))
	}
	return k, data, nil
}

// watch kills the child once ctx has ended or a limit is reached, and returns why; nil if done
// is closed before.
func (c *child) watch(ctx context.Context, l limits, done <-chan struct{}) error {
	before, measured := processorTime(c.cmd.Process.Pid)
	most := l.realOnly
	if measured {
		most = l.real
	}
	end := time.NewTimer(most)
	defer end.Stop()
	tick := time.NewTicker(min(l.processor, time.Second) / 4)
	defer tick.Stop()
	for {
		select {
		case <-done:
			return nil
		case <-ctx.Done():
			_ = c.cmd.Process.Kill() // it may have ended
			return context.Cause(ctx)
		case <-end.C:
			_ = c.cmd.Process.Kill()
			return Unreadable(fmt.Sprintf("it took more than %v", most))
		case <-tick.C:
			if used, ok := processorTime(c.cmd.Process.Pid); ok && used-before > l.processor {
				_ = c.cmd.Process.Kill()
				return Unreadable(fmt.Sprintf("it took more than %v of processor time", l.processor))
			}
		}
	}
}

// kill ends the child at once, and waits for it.
func (c *child) kill() {
	_ = c.cmd.Process.Kill() // it may have ended
	_ = c.ended()            // it was killed
}

// stop tells the child to end, and waits for it.
func (c *child) stop() error {
	const killAfter = 10 * time.Second
	late := time.AfterFunc(killAfter, func() { _ = c.cmd.Process.Kill() })
	defer late.Stop()
	_ = c.to.Close() // it may have ended
	if err := c.ended(); err != nil {
		return fmt.Errorf("end a process that reads PDF documents: %w", err)
	}
	return nil
}
