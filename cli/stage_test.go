package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/webindexer/indexer/internal/control"
)

type stageKey struct{}

// stageWait bounds every wait of a script for a background process, so that a script
// that waits too long reports what it waits for, and the output of the processes.
const stageWait = 2 * time.Minute

// stage holds the background processes and pipes of a script.
type stage struct {
	dir       string
	env       []string
	processes map[string]*process
	pipes     map[string]*os.File
}

// process is waited for from its start on; status is set when ended is closed.
type process struct {
	cmd      *exec.Cmd
	out, err *os.File
	ended    chan struct{}
	status   error
}

func (p *process) hasEnded() bool {
	select {
	case <-p.ended:
		return true
	default:
		return false
	}
}

func newStage(dir string, env []string) *stage {
	return &stage{dir: dir, env: env, processes: make(map[string]*process), pipes: make(map[string]*os.File)}
}

// onStage makes a script command of a method.
func onStage(f func(*stage, *testscript.TestScript, []string) error) func(*testscript.TestScript, bool, []string) {
	return func(ts *testscript.TestScript, neg bool, args []string) {
		if neg || len(args) == 0 {
			ts.Fatalf("a name is needed, and no !")
		}
		ts.Check(f(ts.Value(stageKey{}).(*stage), ts, args))
	}
}

// clear ends what a failed script left.
func (s *stage) clear() {
	for _, f := range s.pipes {
		_ = f.Close()
	}
	for _, p := range s.processes {
		_ = p.cmd.Process.Kill()
		<-p.ended
		_ = errors.Join(p.out.Close(), p.err.Close())
	}
}

// await tries until it succeeds, with pauses that grow. It fails after stageWait, and
// as soon as a started process has ended on its own, because the script waits for
// something that those processes do.
func (s *stage) await(ts *testscript.TestScript, what string, try func() bool) error {
	until := time.Now().Add(stageWait)
	for pause := 10 * time.Millisecond; ; pause = min(2*pause, 500*time.Millisecond) {
		var gone []string // before the last try
		for name, p := range s.processes {
			if p.hasEnded() {
				gone = append(gone, name)
			}
		}
		switch {
		case try():
			return nil
		case len(gone) > 0:
			s.tell(ts)
			return fmt.Errorf("waiting for %s: %s ended", what, strings.Join(gone, ", "))
		case time.Now().After(until):
			s.tell(ts)
			return fmt.Errorf("waiting for %s: nothing within %v", what, stageWait)
		}
		<-time.After(pause)
	}
}

// tell logs what the processes wrote. Those that are running end with a stack trace.
func (s *stage) tell(ts *testscript.TestScript) {
	for name, p := range s.processes {
		if !p.hasEnded() {
			_ = p.cmd.Process.Signal(syscall.SIGCONT) // fails if it has just ended
			_ = p.cmd.Process.Signal(syscall.SIGQUIT)
			select {
			case <-p.ended:
			case <-time.After(10 * time.Second):
			}
		}
		ts.Logf("%s wrote: %s%s", name, ts.ReadFile(name+".out"), ts.ReadFile(name+".err"))
	}
}

func (s *stage) start(ts *testscript.TestScript, args []string) error {
	name, program := args[0], args[1]
	path, err := find(program, ts.Getenv("PATH"))
	if err != nil {
		return err
	}
	p := &process{cmd: exec.Command(path, args[2:]...), ended: make(chan struct{})}
	p.cmd.Dir, p.cmd.Env = s.dir, append(s.env, "PATH="+ts.Getenv("PATH"))
	if p.out, err = os.Create(filepath.Join(s.dir, name+".out")); err != nil {
		return err
	}
	if p.err, err = os.Create(filepath.Join(s.dir, name+".err")); err != nil {
		return err
	}
	p.cmd.Stdout, p.cmd.Stderr = p.out, p.err
	if err := p.cmd.Start(); err != nil {
		return err
	}
	go func() {
		p.status = p.cmd.Wait()
		close(p.ended)
	}()
	s.processes[name] = p
	return nil
}

func find(program, path string) (string, error) {
	for _, dir := range filepath.SplitList(path) {
		if _, err := os.Stat(filepath.Join(dir, program)); err == nil {
			return filepath.Join(dir, program), nil
		}
	}
	return "", fmt.Errorf("no program %s", program)
}

var signals = map[string]os.Signal{"INT": os.Interrupt, "TERM": syscall.SIGTERM, "KILL": os.Kill, "STOP": syscall.SIGSTOP, "CONT": syscall.SIGCONT}

func (s *stage) signal(_ *testscript.TestScript, args []string) error {
	return s.processes[args[0]].cmd.Process.Signal(signals[args[1]])
}

func (s *stage) ends(ts *testscript.TestScript, args []string) error {
	p := s.processes[args[0]]
	want, err := strconv.Atoi(args[1])
	if err != nil {
		return err
	}
	select {
	case <-p.ended:
	case <-time.After(stageWait):
		s.tell(ts)
		return fmt.Errorf("%s does not end", args[0])
	}
	delete(s.processes, args[0])
	err = sameStatus(p.status, want)
	err = errors.Join(err, p.out.Close(), p.err.Close())
	if err != nil {
		ts.Logf("%s wrote: %s%s", args[0], ts.ReadFile(args[0]+".out"), ts.ReadFile(args[0]+".err"))
	}
	return err
}

func (s *stage) fifo(_ *testscript.TestScript, args []string) error {
	return syscall.Mkfifo(filepath.Join(s.dir, args[0]), 0o600)
}

// attach waits until a process has opened the pipe for reading. Opening it without
// O_NONBLOCK would wait in open(2) for a reader that may have died before it got there.
func (s *stage) attach(ts *testscript.TestScript, args []string) error {
	var err error
	waited := s.await(ts, "a reader of "+args[0], func() bool {
		s.pipes[args[0]], err = os.OpenFile(filepath.Join(s.dir, args[0]), os.O_WRONLY|syscall.O_NONBLOCK, 0)
		return !errors.Is(err, syscall.ENXIO)
	})
	if waited != nil || err != nil {
		delete(s.pipes, args[0])
	}
	return errors.Join(waited, err)
}

// until runs a command again and again until its output matches.
func (s *stage) until(ts *testscript.TestScript, args []string) error {
	pattern, err := regexp.Compile(args[0])
	if err != nil {
		return err
	}
	path, err := find(args[1], ts.Getenv("PATH"))
	if err != nil {
		return err
	}
	var out []byte
	err = s.await(ts, strings.Join(args[1:], " ")+" to say "+args[0], func() bool {
		ctx, cancel := context.WithTimeout(context.Background(), stageWait)
		defer cancel()
		cmd := exec.CommandContext(ctx, path, args[2:]...)
		cmd.Dir, cmd.Env = s.dir, append(s.env, "PATH="+ts.Getenv("PATH"))
		out, _ = cmd.CombinedOutput() // it may fail until all is there
		return pattern.Match(out)
	})
	if err != nil {
		ts.Logf("at last it said: %s", out)
	}
	return err
}

// answers waits until a process answers for a data directory. A script that looks into
// the directory before then may itself hold it when the process wants it.
func (s *stage) answers(ts *testscript.TestScript, args []string) error {
	return s.await(ts, "a process that answers for "+args[0], func() bool {
		ctx, cancel := context.WithTimeout(context.Background(), stageWait)
		defer cancel()
		_, err := control.Ask(ctx, filepath.Join(s.dir, args[0]), control.Request{Command: "holder"}, io.Discard, io.Discard)
		return err == nil
	})
}

func (s *stage) feed(ts *testscript.TestScript, args []string) error {
	pipe := s.pipes[args[0]]
	if err := pipe.SetWriteDeadline(time.Now().Add(stageWait)); err != nil {
		return err
	}
	_, err := pipe.WriteString(ts.ReadFile(args[1]))
	return err
}

func (s *stage) detach(_ *testscript.TestScript, args []string) error {
	f := s.pipes[args[0]]
	delete(s.pipes, args[0])
	return f.Close()
}

// jsonAt is the value at a path like hits.0.url in the JSON of a file; length is
// that of a list or an object.
func jsonAt(ts *testscript.TestScript, file, path string) any {
	v, err := parseJSON(ts.ReadFile(file))
	ts.Check(err)
	for name := range strings.SplitSeq(path, ".") {
		next, err := step(v, name)
		if err != nil {
			ts.Fatalf("%s in %s: %v", path, file, err)
		}
		v = next
	}
	return v
}
