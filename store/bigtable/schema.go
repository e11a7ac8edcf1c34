package bigtable

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"cloud.google.com/go/bigtable"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/webindexer/indexer/internal/sleep"
	"github.com/webindexer/indexer/store"
)

// The tables describe themselves, each in a row of its own, in a family that no group can
// have: "_" is always followed by two hexadecimal digits in the names of their families.
// The family is made together with the table, so a table without it is not ours, even if
// the process that made the table died right afterwards.
const (
	selfKey      = "\x00table"
	selfFamily   = "_table"
	formatColumn = "format"
	formatNow    = "indexer table 1"
	groupColumn  = "group:" // and the name: how many versions it keeps
)

// group is a locality group with the place where its cells are.
type group struct {
	store.GroupSpec
	family string
	shards shards // with OwnTable
}

// families are the families of one Bigtable table.
type families struct {
	table  string
	groups []group
	splits []string // of a new table
	// described are the groups that the table describes. The main table describes all.
	described []group
}

// prepare makes a Bigtable table, or adds what it lacks. Any number of processes may do so at
// the same time: one that comes second, or gets no response, checks again.
func prepare(ctx context.Context, admin *bigtable.AdminClient, f families) error {
	for wait := firstWait; ; wait = min(2*wait, time.Second) {
		info, err := admin.TableInfo(ctx, f.table)
		if err == nil {
			return f.complete(ctx, admin, info)
		}
		if status.Code(err) != codes.NotFound {
			return adminError("look at the table "+f.table, err)
		}
		err = f.create(ctx, admin)
		if err != nil && status.Code(err) != codes.AlreadyExists && !transient(err) {
			return adminError("make the table "+f.table, err)
		}
		if err != nil {
			if ended := sleep.For(ctx, wait); ended != nil {
				return errors.Join(ended, adminError("make the table "+f.table, err))
			}
		}
	}
}

const firstWait = 10 * time.Millisecond

func (f *families) create(ctx context.Context, admin *bigtable.AdminClient) error {
	conf := bigtable.TableConf{TableID: f.table, SplitKeys: f.splits, ColumnFamilies: map[string]bigtable.Family{selfFamily: {GCPolicy: bigtable.NoGcPolicy()}}}
	for _, g := range f.groups {
		conf.ColumnFamilies[g.family] = bigtable.Family{GCPolicy: bigtable.NoGcPolicy()}
	}
	return admin.CreateTableFromConf(ctx, &conf)
}

// complete checks the families of a table and adds those that are missing.
func (f *families) complete(ctx context.Context, admin *bigtable.AdminClient, info *bigtable.TableInfo) error {
	if !slices.Contains(info.Families, selfFamily) {
		return fmt.Errorf("%w: the Bigtable table %s was made by another program: choose another prefix", store.ErrForeign, f.table)
	}
	have := map[string]bool{}
	for _, i := range info.FamilyInfos {
		have[i.Name] = true
		if i.GCPolicy != "" && i.GCPolicy != "<never>" {
			return fmt.Errorf("store: column family %s of the Bigtable table %s has the garbage-collection rule %q, which removes cells that are needed: remove the rule", i.Name, f.table, i.GCPolicy)
		}
	}
	for _, g := range f.groups {
		if have[g.family] {
			continue
		}
		err := admin.CreateColumnFamilyWithConfig(ctx, f.table, g.family, bigtable.Family{GCPolicy: bigtable.NoGcPolicy()})
		if err != nil && status.Code(err) != codes.AlreadyExists {
			return adminError(fmt.Sprintf("add the column family %s to the table %s", g.family, f.table), err)
		}
	}
	return nil
}

// describe compares a table's description of itself with the groups it is opened with, and
// adds what is new. It always sends a CheckAndMutateRow, although a read would do: if the
// application profile does not allow one, Open must fail, and not only the first
// transaction.
func describe(ctx context.Context, t *bigtable.Table, f families) error {
	want := map[string]string{formatColumn: formatNow}
	for _, g := range f.described {
		want[groupColumn+g.Name] = g.kind()
	}
	for _, column := range slices.Sorted(maps.Keys(want)) {
		if err := claim(ctx, t, column, want[column]); err != nil {
			return fmt.Errorf("describe the table %s: %w", f.table, err)
		}
	}
	row, err := t.ReadRow(ctx, selfKey, bigtable.RowFilter(bigtable.FamilyFilter(selfFamily)))
	if err != nil {
		return callError(ctx, "read the description of the table "+f.table, err)
	}
	for _, v := range versionsOf(row, selfFamily) {
		if err := f.agrees(v.column, string(v.value), want); err != nil {
			return err
		}
	}
	return nil
}

// claim writes a cell of the description if it is missing.
func claim(ctx context.Context, t *bigtable.Table, column, value string) error {
	set := bigtable.NewMutation()
	set.Set(selfFamily, column, 0, []byte(value))
	exists := bigtable.ColumnRangeFilter(selfFamily, column, column+"\x00")
	for wait := firstWait; ; wait = min(2*wait, time.Second) {
		err := t.Apply(ctx, selfKey, bigtable.NewCondMutation(exists, nil, set))
		switch code := status.Code(err); {
		case err == nil:
			return nil
		case code == codes.FailedPrecondition || code == codes.InvalidArgument:
			return fmt.Errorf("store: Bigtable refuses transactions on single rows: the application profile needs single-cluster routing and single-row transactions (docs/stores.md): %w", err)
		case ctx.Err() != nil || !transient(err):
			return callError(ctx, "write the description", err)
		}
		if err := sleep.For(ctx, wait); err != nil { // claiming twice is harmless
			return err
		}
	}
}

func (f *families) agrees(column, value string, want map[string]string) error {
	name, isGroup := strings.CutPrefix(column, groupColumn)
	expected, known := want[column]
	switch {
	case column == formatColumn && value != formatNow:
		if strings.HasPrefix(value, "indexer table ") {
			return fmt.Errorf("%w: the Bigtable table %s has the format %q, and this version knows %q: use the newer version", store.ErrNewerFormat, f.table, value, formatNow)
		}
		return fmt.Errorf("%w: the Bigtable table %s has the format %q", store.ErrForeign, f.table, value)
	case isGroup && !known:
		return fmt.Errorf("store: the Bigtable table %s has a locality group %q that it was opened without: this program does not match the data", f.table, name)
	case isGroup && value != expected:
		return fmt.Errorf("store: locality group %q keeps %s here, and was opened to keep %s", name, value, expected)
	}
	return nil
}

// kind is how a group is described.
func (g *group) kind() string {
	kind := "versions"
	if g.Latest {
		kind = "latest"
	}
	switch g.shards {
	case "":
	case ownShards[0]:
		kind += ", in a table of its own"
	default:
		kind += ", in a table of its own, from key " + string(g.shards[:1])
	}
	return kind
}
