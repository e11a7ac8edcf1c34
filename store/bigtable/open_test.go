package bigtable

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"

	"cloud.google.com/go/bigtable"

	"github.com/webindexer/indexer/internal/testenv"
	"github.com/webindexer/indexer/store"
	"github.com/webindexer/indexer/store/bigtable/bigtabletest"
)

var ownGroups = []store.GroupSpec{{Name: "data"}, {Name: "lock", Latest: true}, {Name: "~notify", Latest: true, OwnTable: true}, {Name: "~later", Latest: true, OwnTable: true}}

// admin is a client to the emulator's tables.
func admin(t *testing.T, host string) *bigtable.AdminClient {
	t.Helper()
	at := location{emulator: host}
	opts, err := at.dial(nil)
	if err != nil {
		t.Fatal(err)
	}
	a, err := bigtable.NewAdminClient(context.Background(), "test", "test", opts...)
	if err != nil {
		t.Fatal(err)
	}
	testenv.CloseAtEnd(t, a)
	return a
}

// reopen opens a table, closes it again, and returns the error of Open.
func reopen(t *testing.T, url string, groups []store.GroupSpec) error {
	t.Helper()
	db, err := Open(context.Background(), url, groups, Options{})
	if err == nil {
		err = db.Close()
	}
	return err
}

// TestOpenTogether: processes that make a table at the same time all get it.
func TestOpenTogether(t *testing.T) {
	url := bigtabletest.URL(t)
	var work sync.WaitGroup
	for i := range 6 {
		work.Go(func() {
			groups := ownGroups
			if i%2 == 1 {
				groups = ownGroups[:len(ownGroups):len(ownGroups)]
			}
			if err := reopen(t, url, groups); err != nil {
				t.Error(err)
			}
		})
	}
	work.Wait()
}

func TestReopen(t *testing.T) {
	url := bigtabletest.URL(t)
	if err := reopen(t, url, ownGroups); err != nil {
		t.Fatal(err)
	}
	for _, tc := range []struct {
		name   string
		groups []store.GroupSpec
		want   string
	}{
		{"the same", ownGroups, ""},
		{"one more", append(ownGroups[:4:4], store.GroupSpec{Name: "new"}), ""},
		{"one less", ownGroups, `a locality group "new" that it was opened without`},
		{"other versions", []store.GroupSpec{ownGroups[0], {Name: "lock"}, ownGroups[2], ownGroups[3], {Name: "new"}}, `"lock" keeps latest here`},
		{"other place", []store.GroupSpec{ownGroups[0], ownGroups[1], ownGroups[2], {Name: "~later", Latest: true}, {Name: "new"}}, `in a table of its own, from key g here, and was opened to keep latest`},
		{"other order", []store.GroupSpec{ownGroups[0], ownGroups[1], ownGroups[3], ownGroups[2], {Name: "new"}}, `in a table of its own, from key g here`},
		{"too many", append(ownGroups[:4:4], store.GroupSpec{Name: "third", OwnTable: true}), `keys for 2 groups`},
	} {
		if err := reopen(t, url, tc.groups); (err == nil) != (tc.want == "") || err != nil && !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%s: %v; want %q", tc.name, err, tc.want)
		}
	}
}

// TestForeign: tables of other programs are refused, and left alone.
func TestForeign(t *testing.T) {
	if bigtabletest.Real() {
		t.Skip("this test makes tables of other programs")
	}
	ctx, host := context.Background(), bigtabletest.Start(t)
	a := admin(t, host)
	for table, conf := range map[string]bigtable.TableConf{
		"other":            {ColumnFamilies: map[string]bigtable.Family{"data": {}}},
		"half-ours-notify": {},
		"collected":        {ColumnFamilies: map[string]bigtable.Family{selfFamily: {}, "data": {GCPolicy: bigtable.MaxVersionsPolicy(1)}}},
	} {
		conf.TableID = table
		if err := a.CreateTableFromConf(ctx, &conf); err != nil {
			t.Fatal(err)
		}
	}
	for prefix, want := range map[string]string{"other": "made by another program", "half-ours": "made by another program", "collected": "garbage-collection rule"} {
		err := reopen(t, bigtabletest.At(host, prefix), ownGroups)
		if err == nil || !strings.Contains(err.Error(), want) || errors.Is(err, store.ErrForeign) != (prefix != "collected") {
			t.Errorf("%s: %v; want %q", prefix, err, want)
		}
	}
	info, err := a.TableInfo(ctx, "other")
	if err != nil || len(info.Families) != 1 {
		t.Errorf("the table of another program has the families %v, %v", info, err)
	}
}

// TestFormats: a table of a later format, or with another one's mark, is refused.
func TestFormats(t *testing.T) {
	ctx, url := context.Background(), bigtabletest.URL(t)
	db, err := Open(ctx, url, ownGroups, Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	for format, want := range map[string]error{"indexer table 2": store.ErrNewerFormat, "something": store.ErrForeign} {
		m := bigtable.NewMutation()
		m.Set(selfFamily, formatColumn, 0, []byte(format))
		if err := db.main.Apply(ctx, selfKey, m); err != nil {
			t.Fatal(err)
		}
		if err := reopen(t, url, ownGroups); !errors.Is(err, want) {
			t.Errorf("format %q: %v, want %v", format, err, want)
		}
	}
}
