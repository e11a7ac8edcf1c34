// Package opensearchtest runs a real OpenSearch server for tests, in a process of its own on
// a loopback address. It uses the minimal distribution that the OpenSearch project
// publishes for tests (45 MB), which Maven keeps in ~/.m2:
//
//	mvn dependency:get -Dtransitive=false -Dartifact=org.opensearch.distribution.integ-test-zip:opensearch:2.19.1:zip
//
// Without the distribution or without Java, tests skip and say so.
package opensearchtest

import (
	"archive/zip"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

// version of the server.
const version = "2.19.1"

// zipVariable names the environment variable with the path of the distribution, for machines
// where Maven did not fetch it.
const zipVariable = "INDEXER_OPENSEARCH_ZIP"

// Server is a running server.
type Server struct {
	// URL is its address: http://127.0.0.1:PORT.
	URL string

	dir, home       string
	port, transport string
	java            string
	cmd             *exec.Cmd
	ended           chan struct{}
}

// Main runs the tests of a package, a *testing.M, which share one server:
//
//	func TestMain(m *testing.M) { goleak.VerifyTestMain(opensearchtest.Main{M: m}) }
type Main struct{ M interface{ Run() int } }

var shared struct {
	sync.Mutex
	server *Server
	err    error
}

// Run runs the tests and ends the server.
func (m Main) Run() int {
	status := m.M.Run()
	if s := shared.server; s != nil {
		s.Kill()
		if err := os.RemoveAll(s.dir); err != nil {
			fmt.Fprintln(os.Stderr, err)
			status = max(status, 1)
		}
	}
	return status
}

// Shared starts the server of the package, once. It takes half a minute, so tests in short
// mode skip.
func Shared(t testing.TB) *Server {
	t.Helper()
	if testing.Short() {
		t.Skip("SKIPPED in short mode: OpenSearch takes half a minute to start")
	}
	shared.Lock()
	defer shared.Unlock()
	if shared.server == nil && shared.err == nil {
		shared.server, shared.err = start()
	}
	if shared.err != nil {
		t.Skipf("SKIPPED, nothing was tested with OpenSearch: %v", shared.err)
	}
	return shared.server
}

// distribution finds the zip file.
func distribution() (string, error) {
	if path := os.Getenv(zipVariable); path != "" {
		return path, nil
	}
	home, err := os.UserHomeDir()
	if err != nil {
		return "", err
	}
	path := filepath.Join(home, ".m2/repository/org/opensearch/distribution/integ-test-zip/opensearch", version, "opensearch-"+version+".zip")
	if _, err := os.Stat(path); err != nil {
		return "", fmt.Errorf("%w; fetch it with mvn dependency:get -Dtransitive=false -Dartifact=org.opensearch.distribution.integ-test-zip:opensearch:%s:zip", err, version)
	}
	return path, nil
}

func javaHome() (string, error) {
	path, err := exec.LookPath("java")
	if err != nil {
		return "", fmt.Errorf("there is no Java on this machine: %w", err)
	}
	if path, err = filepath.EvalSymlinks(path); err != nil {
		return "", err
	}
	return filepath.Dir(filepath.Dir(path)), nil
}

func start() (_ *Server, err error) {
	path, err := distribution()
	if err != nil {
		return nil, err
	}
	s := &Server{}
	if s.java, err = javaHome(); err != nil {
		return nil, err
	}
	if s.dir, err = os.MkdirTemp("", "opensearch-test-"); err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, os.RemoveAll(s.dir))
		}
	}()
	if err := unzip(path, s.dir); err != nil {
		return nil, err
	}
	s.home = filepath.Join(s.dir, "opensearch-"+version)
	if err := s.give(); err != nil {
		return nil, err
	}
	if s.port, err = freePort(); err != nil {
		return nil, err
	}
	if s.transport, err = freePort(); err != nil {
		return nil, err
	}
	s.URL = "http://127.0.0.1:" + s.port
	return s, s.Restart()
}

// give gives the files to the user that the server runs as.
func (s *Server) give() error {
	if os.Getuid() != 0 {
		return nil
	}
	return filepath.WalkDir(s.dir, func(path string, _ os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		return os.Chown(path, nobody, nobody)
	})
}

// Restart starts the server again on its data, and waits until it answers.
func (s *Server) Restart() error {
	log, err := os.OpenFile(filepath.Join(s.dir, "log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	defer log.Close()
	s.cmd = exec.Command(filepath.Join(s.home, "bin/opensearch"),
		"-Ediscovery.type=single-node", "-Enetwork.host=127.0.0.1", "-Ehttp.port="+s.port, "-Etransport.port="+s.transport,
		"-Ecluster.routing.allocation.disk.threshold_enabled=false", "-Enode.processors=2")
	s.cmd.Env = append(os.Environ(), "OPENSEARCH_JAVA_HOME="+s.java, "OPENSEARCH_JAVA_OPTS=-Xms384m -Xmx384m -XX:TieredStopAtLevel=1", "OPENSEARCH_TMPDIR="+s.dir, "HOME="+s.dir)
	s.cmd.Stdout, s.cmd.Stderr = log, log
	s.cmd.SysProcAttr = attributes()
	if err := s.cmd.Start(); err != nil {
		return err
	}
	s.ended = make(chan struct{})
	go func(cmd *exec.Cmd, ended chan struct{}) {
		_ = cmd.Wait() // killed
		close(ended)
	}(s.cmd, s.ended)
	return s.waitUntilUp()
}

func (s *Server) waitUntilUp() error {
	ctx, cancel := context.WithTimeout(context.Background(), 3*time.Minute)
	defer cancel()
	for {
		err := s.healthy(ctx)
		if err == nil {
			return nil
		}
		select {
		case <-s.ended:
			return fmt.Errorf("OpenSearch has ended; the end of its log:\n%s", s.logTail())
		case <-ctx.Done():
			s.Kill()
			return fmt.Errorf("OpenSearch does not answer: %w; the end of its log:\n%s", err, s.logTail())
		case <-time.After(200 * time.Millisecond):
		}
	}
}

func (s *Server) healthy(ctx context.Context) error {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, s.URL+"/_cluster/health?wait_for_status=yellow&timeout=5s", nil)
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

func (s *Server) logTail() string {
	text, err := os.ReadFile(filepath.Join(s.dir, "log"))
	if err != nil {
		return err.Error()
	}
	return string(text[max(0, len(text)-2000):])
}

// Kill kills the server. What it acknowledged is in its directory.
func (s *Server) Kill() {
	kill(s.cmd.Process)
	<-s.ended
}

func freePort() (string, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	_, port, err := net.SplitHostPort(l.Addr().String())
	return port, errors.Join(err, l.Close())
}

func unzip(path, dir string) error {
	z, err := zip.OpenReader(path)
	if err != nil {
		return fmt.Errorf("open the distribution of OpenSearch: %w", err)
	}
	defer z.Close()
	for _, f := range z.File {
		if err := unzipOne(f, dir); err != nil {
			return fmt.Errorf("unpack %s: %w", f.Name, err)
		}
	}
	return nil
}

func unzipOne(f *zip.File, dir string) error {
	if !filepath.IsLocal(f.Name) {
		return errors.New("a name that leaves the directory")
	}
	to := filepath.Join(dir, f.Name)
	if strings.HasSuffix(f.Name, "/") {
		return os.MkdirAll(to, 0o755)
	}
	if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
		return err
	}
	in, err := f.Open()
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := os.OpenFile(to, os.O_CREATE|os.O_WRONLY|os.O_TRUNC, f.Mode().Perm()|0o600)
	if err != nil {
		return err
	}
	_, err = io.Copy(out, in)
	return errors.Join(err, out.Close())
}
