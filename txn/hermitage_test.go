package txn

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"strconv"
	"testing"

	"github.com/webindexer/indexer/internal/testenv"
)

const hermitageFile = "../../shared/suites/isolation/hermitage_si.json"

// TestHermitage runs Martin Kleppmann's isolation scenarios, as far as they apply to
// snapshot isolation with conflicts found at commit.
func TestHermitage(t *testing.T) {
	text, err := os.ReadFile(hermitageFile)
	if errors.Is(err, os.ErrNotExist) {
		t.Skip("no isolation suite beside the project: " + hermitageFile)
	}
	var suite struct{ Scenarios []hermitageScenario }
	if err == nil {
		err = json.Unmarshal(text, &suite)
	}
	if err != nil || len(suite.Scenarios) == 0 {
		t.Fatalf("%d scenarios, %v", len(suite.Scenarios), err)
	}
	eachMode(t, func(t *testing.T, e engine, mode Mode) {
		if e.remote && !testenv.Long() {
			t.Skip("on a remote engine only with INDEXER_LONG=1: TestIsolation has the same and more")
		}
		for _, s := range suite.Scenarios {
			t.Run(s.Name, func(t *testing.T) {
				table := e.open(t, Groups("app"))
				defer closeTable(t, table)
				s.run(t, open(t, table, Options{Mode: mode}))
			})
		}
	})
}

type hermitageScenario struct {
	Name        string
	Init, Final map[string]int
	Steps       [][]json.RawMessage
}

func (s hermitageScenario) run(t *testing.T, db *DB) {
	h := &hermitage{t: t, db: db, txns: make(map[string]*Txn)}
	ctx := context.Background()
	_, err := db.Run(ctx, func(tx *Txn) error {
		for k, v := range s.Init {
			h.set(tx, k, v)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for i, step := range s.Steps {
		h.where = fmt.Sprintf("step %d %s", i, step)
		h.step(step)
	}
	h.where = "in the end"
	tx := mustBegin(t, db)
	defer tx.Rollback()
	if s.Final != nil { // nil where more than one outcome is allowed
		h.equal(h.all(tx, always), s.Final)
	}
	for _, tx := range h.txns {
		tx.Rollback()
	}
	if err := db.Close(); err != nil {
		t.Error(err)
	}
}

type hermitage struct {
	t     *testing.T
	db    *DB
	txns  map[string]*Txn
	where string
}

var hermitageColumn = app("v")

func (h *hermitage) step(step []json.RawMessage) {
	name, op := decode[string](h, step, 0), decode[string](h, step, 1)
	tx := h.txns[name]
	ctx := context.Background()
	switch op {
	case "begin":
		h.txns[name] = mustBegin(h.t, h.db)
	case "r":
		want := decode[*int](h, step, 3)
		got := h.all(tx, always)
		v, ok := got[decode[string](h, step, 2)]
		if (want != nil) != ok || (ok && v != *want) {
			h.t.Errorf("%s: read %v in %v", h.where, v, got)
		}
		h.get(tx.Get, decode[string](h, step, 2), want)
	case "lock":
		h.get(tx.GetForUpdate, decode[string](h, step, 2), decode[*int](h, step, 3))
	case "scan":
		h.equal(h.all(tx, always), decode[map[string]int](h, step, 2))
	case "scanif":
		h.equal(h.all(tx, h.predicate(decode[string](h, step, 2))), decode[map[string]int](h, step, 3))
	case "w":
		h.set(tx, decode[string](h, step, 2), decode[int](h, step, 3))
	case "add":
		key := decode[string](h, step, 2)
		h.set(tx, key, h.all(tx, always)[key]+decode[int](h, step, 3))
	case "del":
		tx.Delete(decode[string](h, step, 2), hermitageColumn)
	case "delif":
		for key := range h.all(tx, h.predicate(decode[string](h, step, 2))) {
			tx.Delete(key, hermitageColumn)
		}
	case "abort":
		tx.Rollback()
	case "commit":
		_, err := tx.Commit(ctx)
		h.outcome(err, decode[string](h, step, 2))
	default:
		h.t.Fatalf("%s: unknown operation", h.where)
	}
}

func (h *hermitage) outcome(err error, want string) {
	ok := err == nil && want != "conflict" || errors.Is(err, ErrConflict) && want != "ok"
	if !ok {
		h.t.Errorf("%s: %v", h.where, err)
	}
}

func decode[T any](h *hermitage, step []json.RawMessage, i int) (v T) {
	if err := json.Unmarshal(step[i], &v); err != nil {
		h.t.Fatalf("%s: argument %d: %v", h.where, i, err)
	}
	return v
}

func (h *hermitage) set(tx *Txn, key string, v int) {
	tx.Set(key, hermitageColumn, []byte(strconv.Itoa(v)))
}

type getter func(context.Context, string, Column) (Value, error)

func (h *hermitage) get(get getter, key string, want *int) {
	v, err := get(context.Background(), key, hermitageColumn)
	if err != nil || v.Exists != (want != nil) || (want != nil && string(v.Data) != strconv.Itoa(*want)) {
		h.t.Errorf("%s: Get gave %q, %v", h.where, v.Data, err)
	}
}

func always(int) bool { return true }

func (h *hermitage) predicate(p string) func(int) bool {
	var mod, n int
	if _, err := fmt.Sscanf(p, "v%%%d==%d", &mod, &n); err == nil {
		return func(v int) bool { return v%mod == n }
	}
	if _, err := fmt.Sscanf(p, "v==%d", &n); err != nil {
		h.t.Fatalf("%s: predicate %q", h.where, p)
	}
	return func(v int) bool { return v == n }
}

func (h *hermitage) all(tx *Txn, wanted func(int) bool) map[string]int {
	found := make(map[string]int)
	err := tx.Scan(context.Background(), "app", "", "", func(row string, cols []Version) error {
		n, err := strconv.Atoi(string(cols[0].Data))
		if err == nil && wanted(n) {
			found[row] = n
		}
		return err
	})
	if err != nil {
		h.t.Errorf("%s: %v", h.where, err)
	}
	return found
}

func (h *hermitage) equal(got, want map[string]int) {
	if !maps.Equal(got, want) {
		h.t.Errorf("%s: got %v, want %v", h.where, got, want)
	}
}
