// Package bigtabletest gives a test a Bigtable: Google's emulator in a process of its own,
// or the real instance that INDEXER_BIGTABLE=PROJECT/INSTANCE names. In a real instance,
// tests create tables with random names that begin with "indexer-test-", and delete them.
package bigtabletest

import (
	"bufio"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"

	"cloud.google.com/go/bigtable"
)

// Variable names the environment variable with a real instance.
const Variable = "INDEXER_BIGTABLE"

// tool is the emulator, a tool of go.mod.
const tool = "github.com/webindexer/indexer/store/bigtable/bigtabletest/emulator"

// Real reports whether tests use a real instance, which is slower.
func Real() bool { return os.Getenv(Variable) != "" }

// URL returns the URL of a table that does not exist yet. It starts an emulator, unless one
// is running or a real instance is named; the emulator ends with the last test that uses it.
func URL(t testing.TB) string {
	t.Helper()
	prefix := fmt.Sprintf("indexer-test-%016x", rand.Uint64())
	if !Real() {
		return At(Start(t), prefix)
	}
	instance := os.Getenv(Variable)
	t.Cleanup(func() { remove(t, instance, prefix) })
	return "bigtable://" + instance + "/" + prefix
}

// At returns the URL of a table in an emulator.
func At(host, prefix string) string {
	return "bigtable://test/test/" + prefix + "?emulator=" + host
}

// remove deletes the tables of a test.
func remove(t testing.TB, instance, prefix string) {
	ctx := context.Background()
	project, name, _ := strings.Cut(instance, "/")
	admin, err := bigtable.NewAdminClient(ctx, project, name)
	if err != nil {
		t.Error(err)
		return
	}
	defer admin.Close()
	tables, err := admin.Tables(ctx)
	if err != nil {
		t.Error(err)
	}
	for _, table := range tables {
		if strings.HasPrefix(table, prefix) {
			if err := admin.DeleteTable(ctx, table); err != nil {
				t.Error(err)
			}
		}
	}
}

var running struct {
	sync.Mutex
	users   int
	command *exec.Cmd
	host    string
}

// Start starts the emulator, or shares the one that runs, until the end of the test. It
// returns host and port.
func Start(t testing.TB) string {
	t.Helper()
	running.Lock()
	defer running.Unlock()
	if running.users == 0 {
		launch(t)
	}
	running.users++
	t.Cleanup(release)
	return running.host
}

// launch is called with running locked.
func launch(t testing.TB) {
	path, err := exec.Command("go", "tool", "-n", tool).Output() // builds it if need be
	if err != nil {
		t.Skipf("without Google's emulator of Bigtable (go tool %s): %v", tool, err)
	}
	command := exec.Command(strings.TrimSpace(string(path)), "-address", "127.0.0.1:0")
	out, err := command.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	line, err := bufio.NewReader(out).ReadString('\n')
	const before = "running on "
	_, host, ok := strings.Cut(strings.TrimSpace(line), before)
	if err != nil || !ok {
		command.Process.Kill()
		command.Wait()
		t.Fatalf("the emulator of Bigtable says %q, %v; want %q and an address", line, err, before)
	}
	running.command, running.host = command, host
}

func release() {
	running.Lock()
	defer running.Unlock()
	if running.users--; running.users > 0 {
		return
	}
	running.command.Process.Kill()
	running.command.Wait()
}
