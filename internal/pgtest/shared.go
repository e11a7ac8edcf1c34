package pgtest

import (
	"cmp"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"fmt"
	"net/url"
	"strings"
	"sync"
	"testing"

	"github.com/jackc/pgx/v5"
)

// shared is the server of this test binary, started by the first test that asks for it.
var shared struct {
	sync.Mutex
	server *Server
	failed error
}

// Shared returns the server of the package's tests. It skips the test where no server is
// installed, and fails it if the server does not start.
func Shared(t testing.TB) *Server {
	t.Helper()
	bin, err := findPrograms()
	if err != nil {
		t.Skipf("SKIPPED, nothing was tested on PostgreSQL: %v", err)
	}
	shared.Lock()
	defer shared.Unlock()
	if shared.server == nil && shared.failed == nil {
		_, benchmark := t.(*testing.B) // which has to measure what users get
		shared.server, shared.failed = start(bin, benchmark)
	}
	if shared.failed != nil {
		t.Fatal(shared.failed)
	}
	return shared.server
}

// Main runs the tests of a package and then ends the shared server, before a check for
// leaked goroutines finds those that own it.
type Main struct{ M *testing.M }

// Run implements the interface of goleak.VerifyTestMain.
func (m Main) Run() int {
	defer stop()
	return m.M.Run()
}

// stop ends the shared server and removes its directory.
func stop() {
	shared.Lock()
	defer shared.Unlock()
	if shared.server != nil {
		shared.server.remove()
		shared.server = nil
	}
}

// Schema returns the setting of a table in a schema of its own. The schema is dropped at
// the end of the test.
func (s *Server) Schema(t testing.TB) string {
	t.Helper()
	name := "t_" + strings.ToLower(rand.Text())
	t.Cleanup(func() {
		ctx := context.Background()
		conn, err := pgx.Connect(ctx, s.URL(""))
		if err != nil {
			t.Errorf("drop schema %s: %v", name, err)
			return
		}
		_, err = conn.Exec(ctx, "DROP SCHEMA IF EXISTS "+name+" CASCADE")
		if err = cmp.Or(err, conn.Close(ctx)); err != nil {
			t.Errorf("drop schema %s: %v", name, err)
		}
	})
	return s.URL(name)
}

// Emptied returns the setting of a table that all tests with this key share, one after the
// other, without its cells. That is several times faster than a table in a new schema.
func (s *Server) Emptied(t testing.TB, key string) string {
	t.Helper()
	name := fmt.Sprintf("t_%x", sha256.Sum256([]byte(key)))[:40]
	ctx := t.Context()
	conn, err := pgx.Connect(ctx, s.URL(""))
	if err != nil {
		t.Fatal(err)
	}
	_, err = conn.Exec(ctx, fmt.Sprintf(`DO $$ DECLARE tables text := (SELECT string_agg(format('%%I.%%I', schemaname, tablename), ', ')
		FROM pg_tables WHERE schemaname = '%s' AND tablename LIKE 'cells%%');
		BEGIN IF tables IS NOT NULL THEN EXECUTE 'TRUNCATE ' || tables; END IF; END $$`, name))
	if err = cmp.Or(err, conn.Close(ctx)); err != nil {
		t.Fatalf("empty schema %s: %v", name, err)
	}
	return s.URL(name)
}

// URL returns the connection string of a schema; without one, for pgx itself. It names the port,
// because PGPORT may name that of another server.
func (s *Server) URL(schema string) string {
	q := url.Values{"host": {s.dir}, "port": {port}, "user": {role}}
	if schema != "" {
		q.Set("schema", schema)
	}
	return "postgres:///postgres?" + q.Encode()
}
