// Package etcdtest runs a real etcd server for tests, in a process of its own on a loopback
// address. The server is a tool of this module: `go tool -n` builds it from source, which
// takes a minute the first time and nothing later.
package etcdtest

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/webindexer/indexer/internal/killtest"
	"github.com/webindexer/indexer/internal/testenv"
)

const tool = "go.etcd.io/etcd/server/v3"

// find builds the server once in a test binary.
var find = sync.OnceValues(func() (string, error) {
	cmd := exec.Command("go", "tool", "-n", tool)
	var stderr strings.Builder
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("%s: %w\n%s", cmd, err, stderr.String())
	}
	return strings.TrimSpace(string(out)), nil
})

// Server is an etcd server.
type Server struct {
	// Endpoint is its address for clients: HOST:PORT.
	Endpoint string

	t    testing.TB
	path string
	args []string
	run  *killtest.Child
}

// Start starts a server with an empty directory. It ends with the test. Where it cannot be
// built, the test is skipped.
func Start(t testing.TB) *Server {
	t.Helper()
	path, err := find()
	if err != nil {
		t.Skipf("SKIPPED, nothing was tested with etcd: %v", err)
	}
	client, peer := testenv.FreeAddress(t), testenv.FreeAddress(t)
	dir := filepath.Join(t.TempDir(), "etcd")
	s := &Server{Endpoint: client, t: t, path: path, args: []string{
		"--data-dir", dir, "--name", "test", "--log-level", "error", "--unsafe-no-fsync",
		"--listen-client-urls", "http://" + client, "--advertise-client-urls", "http://" + client,
		"--listen-peer-urls", "http://" + peer, "--initial-advertise-peer-urls", "http://" + peer,
		"--initial-cluster", "test=http://" + peer,
	}}
	s.Restart()
	return s
}

// Restart starts the server again on its directory.
func (s *Server) Restart() {
	s.t.Helper()
	cmd := killtest.Command(s.t, s.path, s.args...)
	cmd.Stdout, cmd.Stderr = os.Stderr, os.Stderr
	s.run = killtest.Start(s.t, cmd)
	ctx, cancel := context.WithTimeout(s.t.Context(), time.Minute)
	defer cancel()
	for {
		err := s.healthy(ctx)
		if err == nil {
			return
		}
		select {
		case <-ctx.Done():
			s.t.Fatalf("etcd does not answer: %v", err)
		case <-time.After(20 * time.Millisecond):
		}
	}
}

func (s *Server) healthy(ctx context.Context) error {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+s.Endpoint+"/health", nil)
	if err != nil {
		return err
	}
	answer, err := (&http.Client{Transport: &http.Transport{DisableKeepAlives: true}}).Do(r)
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusOK {
		return errors.New(answer.Status)
	}
	return nil
}

// Kill kills the server. What it acknowledged is in its directory.
func (s *Server) Kill() {
	s.run.Kill()
	s.run.Wait()
}
