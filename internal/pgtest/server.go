package pgtest

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
)

const (
	role = "indexer"
	port = "5432" // names the socket; nothing listens on a network
	// timeout bounds the start and the end of a server.
	timeout = 30 * time.Second
)

// Server is a running PostgreSQL.
type Server struct {
	bin, dir string
	fsync    string
	process  *os.Process
	ended    chan error // receives the result of the process once
}

// start makes a data directory and starts a server on it.
func start(bin string, durable bool) (*Server, error) {
	dir, err := os.MkdirTemp("", "pgtest")
	if err != nil {
		return nil, err
	}
	s := &Server{bin: bin, dir: dir, fsync: "off"}
	if durable {
		s.fsync = "on"
	}
	if err := s.prepare(); err != nil {
		return nil, errors.Join(err, os.RemoveAll(dir))
	}
	if err := s.run(); err != nil {
		s.remove()
		return nil, err
	}
	return s, nil
}

// prepare runs initdb. The server refuses to run as root, so then its directory belongs
// to another user.
func (s *Server) prepare() error {
	if err := chown(s.dir); err != nil {
		return err
	}
	cmd := exec.Command(filepath.Join(s.bin, "initdb"), "--pgdata", s.data(), "--username", role, "--auth", "trust", "--encoding", "UTF8", "--locale", "C", "--no-sync")
	cmd.Dir = s.dir
	cmd.SysProcAttr = attributes()
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("initdb: %w\n%s", err, out)
	}
	return nil
}

func (s *Server) data() string { return filepath.Join(s.dir, "data") }
func (s *Server) log() string  { return filepath.Join(s.dir, "log") }

// Socket is the path of the socket on which the server listens.
func (s *Server) Socket() string { return filepath.Join(s.dir, ".s.PGSQL."+port) }

// run starts the server and waits until it answers. After a kill, the new server refuses to
// start until the last process of the old one is gone, so run tries for a while.
func (s *Server) run() error {
	deadline := time.Now().Add(timeout)
	for {
		err := s.launch()
		if err == nil {
			err = s.answers(deadline)
		}
		if err == nil {
			return nil
		}
		if s.process != nil {
			s.signal(syscall.SIGQUIT)
			s.wait()
		}
		if time.Now().After(deadline) {
			text, _ := os.ReadFile(s.log())
			return fmt.Errorf("start PostgreSQL: %w\n%s", err, text[max(0, len(text)-4000):])
		}
	}
}

// launch starts the process from a thread that lives as long as the process: on Linux the
// process is told to end when that thread ends, so it does not survive a test that panics.
func (s *Server) launch() error {
	log, err := os.OpenFile(s.log(), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	cmd := exec.Command(filepath.Join(s.bin, "postgres"), "-D", s.data(), "-k", s.dir, "-p", port,
		"-c", "listen_addresses=", "-c", "fsync="+s.fsync, "-c", "full_page_writes="+s.fsync, "-c", "shared_buffers=64MB",
		"-c", "max_connections=200", "-c", "autovacuum_naptime=5s")
	cmd.Dir, cmd.Stdout, cmd.Stderr = s.dir, log, log
	cmd.SysProcAttr = attributes()
	started := make(chan error)
	ended := make(chan error, 1)
	go func() {
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		defer log.Close()
		err := cmd.Start()
		started <- err
		if err == nil {
			ended <- cmd.Wait()
		}
	}()
	if err := <-started; err != nil {
		return err
	}
	s.process, s.ended = cmd.Process, ended
	return nil
}

// answers waits until a query succeeds, or the process ends.
func (s *Server) answers(deadline time.Time) error {
	ctx, cancel := context.WithDeadline(context.Background(), deadline)
	defer cancel()
	pause := time.NewTicker(20 * time.Millisecond)
	defer pause.Stop()
	for {
		conn, err := pgx.Connect(ctx, s.URL(""))
		if err == nil {
			return conn.Close(ctx)
		}
		select {
		case result := <-s.ended:
			s.process = nil
			return fmt.Errorf("the server ended: %w", cmp.Or(result, err))
		case <-ctx.Done():
			return err
		case <-pause.C:
		}
	}
}

// Kill ends all processes of the server at once, as the loss of its machine would.
func (s *Server) Kill() {
	children := childrenOf(s.process.Pid) // before their parent is gone
	s.signal(syscall.SIGKILL)
	for _, pid := range children {
		if p, err := os.FindProcess(pid); err == nil {
			_ = p.Signal(syscall.SIGKILL) // it may have ended already
		}
	}
	s.wait()
}

// Restart starts the server again after Kill.
func (s *Server) Restart(t testing.TB) {
	t.Helper()
	if err := s.run(); err != nil {
		t.Fatal(err)
	}
}

func (s *Server) signal(sig syscall.Signal) {
	_ = s.process.Signal(sig) // only fails if it has ended
}

func (s *Server) wait() {
	<-s.ended
	s.process = nil
}

// remove ends the server at once (no test needs its data again) and removes its directory.
func (s *Server) remove() {
	if s.process != nil {
		s.signal(syscall.SIGQUIT)
		s.wait()
	}
	if err := os.RemoveAll(s.dir); err != nil {
		fmt.Fprintln(os.Stderr, "pgtest:", err)
	}
}
