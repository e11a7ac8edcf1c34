package histories_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/webindexer/indexer/internal/killtest"
	"github.com/webindexer/indexer/internal/pgtest"
	"github.com/webindexer/indexer/internal/testenv"
	"github.com/webindexer/indexer/oracle"
	"github.com/webindexer/indexer/oracle/remote"
	"github.com/webindexer/indexer/store"
	"github.com/webindexer/indexer/store/bigtable"
	"github.com/webindexer/indexer/store/bigtable/bigtabletest"
	"github.com/webindexer/indexer/store/postgres"
	"github.com/webindexer/indexer/txn"
)

// TestElleProcesses: three processes on one table of a database, whose oracle changes hands
// in the middle. Their histories are merged by the clock of the machine: an invocation is
// stamped before its transaction begins, and an end after it has ended.
func TestElleProcesses(t *testing.T) {
	needJudge(t)
	for name, url := range map[string]func(testing.TB) string{
		"postgres": func(t testing.TB) string { return pgtest.Shared(t).Schema(t) },
		"bigtable": bigtabletest.URL,
	} {
		t.Run(name, func(t *testing.T) {
			setting := url(t)
			table, err := openURL(t.Context(), setting)
			if err != nil {
				t.Fatal(err)
			}
			defer closeTable(t, table)
			o := startOracles(t, table)
			defer o.stop()
			var histories []string
			var reading sync.WaitGroup
			for i := range processes {
				file := filepath.Join(t.TempDir(), fmt.Sprint(i))
				histories = append(histories, file)
				request, err := json.Marshal(clients{
					Table: setting, Oracles: o.addresses, Number: i, File: file,
					Transactions: testenv.Size(200, 450, 100_000) / processes,
				})
				if err != nil {
					t.Fatal(err)
				}
				c := killtest.Start(t, killtest.Role(t, "clients", clientsVariable+"="+string(request)))
				reading.Go(func() {
					for line := range c.Lines() {
						if line == halfway && i == 0 {
							o.handOver()
						}
					}
					if why := c.Failed(); why != "" {
						t.Error(why)
					}
				})
			}
			reading.Wait()
			if t.Failed() {
				return
			}
			mustHold(t, append(merge(t, histories), readEverything(t, table, o.join)...))
		})
	}
}

const (
	processes       = 3
	clientsVariable = "HISTORIES_CLIENTS"
	halfway         = "half of the transactions have begun"
	// apart keeps the names of clients and the values of processes apart.
	apart = 10_000_000
)

// clients is what a process does.
type clients struct {
	Table        string
	Oracles      []string
	Number       int // of the process
	File         string
	Transactions int
}

func openURL(ctx context.Context, setting string) (store.Table, error) {
	if strings.HasPrefix(setting, "bigtable:") {
		return bigtable.Open(ctx, setting, txn.Groups("app"), bigtable.Options{})
	}
	return postgres.Open(ctx, setting, txn.Groups("app"), postgres.Options{})
}

// beClients runs transactions and writes their history to a file.
func beClients() (err error) {
	var q clients
	if err := json.Unmarshal([]byte(os.Getenv(clientsVariable)), &q); err != nil {
		return err
	}
	ctx := context.Background()
	table, err := openURL(ctx, q.Table)
	if err != nil {
		return err
	}
	member, err := oracle.Join(ctx, table)
	if err != nil {
		return err
	}
	client, err := remote.Connect(q.Oracles, member.Token(), remote.Options{Holder: oracle.HolderIn(table)})
	if err != nil {
		return err
	}
	together, err := client.Coordination(ctx, member, member.Domain())
	if err != nil {
		return err
	}
	t := &testing.T{} // holds nothing but whether something failed
	r := &run{load: load{mode: txn.TwoPhase, transactions: q.Transactions, clients: 6, keys: 5}, t: t, ends: make(map[string]int), certain: make(map[int]bool), appends: make([]atomic.Int64, 5)}
	r.midway = func() { fmt.Println(halfway) }
	r.join = func() *txn.Coordination { return together }
	r.values.Store(int64(q.Number) * apart)
	r.rec.next, r.rec.stamped = q.Number*apart, true
	r.dbs = []*txn.DB{r.open(table, nil)}
	r.work()
	r.close()
	fmt.Println(r.ends)
	if t.Failed() {
		return errors.New("a transaction failed otherwise than by a conflict")
	}
	return errors.Join(os.WriteFile(q.File, r.rec.text.Bytes(), 0o600), client.Close(), member.Leave(ctx), table.Close())
}

// merge returns the events of some histories in the order of time, without the times.
func merge(t *testing.T, files []string) (history []byte) {
	t.Helper()
	var lines []string
	for _, file := range files {
		b, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		lines = append(lines, slices.Collect(strings.Lines(string(b)))...)
	}
	slices.Sort(lines) // all times have as many digits
	for _, line := range lines {
		_, event, _ := strings.Cut(line, " ")
		history = append(history, event...)
	}
	return history
}

// readEverything is the history of one more process that reads every list in the end.
func readEverything(t *testing.T, table store.Table, join func() *txn.Coordination) []byte {
	t.Helper()
	r := &run{load: load{mode: txn.TwoPhase, join: join}, t: t}
	db := r.open(table, nil)
	r.dbs = []*txn.DB{db}
	defer r.close()
	r.rec.next = processes * apart
	process := r.rec.process()
	tx, err := db.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer tx.Rollback()
	var ops []op
	err = tx.Scan(t.Context(), "app", "", "", func(row string, cells []txn.Version) error {
		list, err := decodeList(cells[0].Data)
		ops = append(ops, op{key: row, read: list})
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	asked := slices.Clone(ops)
	for i := range asked {
		asked[i].read = nil
	}
	r.rec.event(process, "invoke", asked)
	r.rec.event(process, "ok", ops)
	t.Logf("%d lists", len(ops))
	return bytes.Clone(r.rec.text.Bytes())
}
