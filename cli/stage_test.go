package cli

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"

	"github.com/rogpeppe/go-internal/testscript"
)

type stageKey struct{}

// stage is what runs beside a script: processes and pipes.
type stage struct {
	dir       string
	env       []string
	processes map[string]*process
	pipes     map[string]*os.File
}

type process struct {
	cmd      *exec.Cmd
	out, err *os.File
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
		_ = p.cmd.Wait()
	}
}

func (s *stage) start(ts *testscript.TestScript, args []string) error {
	name, program := args[0], args[1]
	path, err := find(program, ts.Getenv("PATH"))
	if err != nil {
		return err
	}
	p := &process{cmd: exec.Command(path, args[2:]...)}
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
	delete(s.processes, args[0])
	want, err := strconv.Atoi(args[1])
	if err != nil {
		return err
	}
	err = sameStatus(p.cmd.Wait(), want)
	err = errors.Join(err, p.out.Close(), p.err.Close())
	if err != nil {
		ts.Logf("%s wrote: %s%s", args[0], ts.ReadFile(args[0]+".out"), ts.ReadFile(args[0]+".err"))
	}
	return err
}

func (s *stage) fifo(_ *testscript.TestScript, args []string) error {
	return syscall.Mkfifo(filepath.Join(s.dir, args[0]), 0o600)
}

// attach waits, in open(2), until somebody has opened the pipe for reading.
func (s *stage) attach(_ *testscript.TestScript, args []string) (err error) {
	s.pipes[args[0]], err = os.OpenFile(filepath.Join(s.dir, args[0]), os.O_WRONLY, 0)
	return err
}

func (s *stage) feed(ts *testscript.TestScript, args []string) error {
	_, err := s.pipes[args[0]].WriteString(ts.ReadFile(args[1]))
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
