package badgerdb

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"go.uber.org/zap"
	"go.uber.org/zap/zaptest/observer"
	"google.golang.org/protobuf/proto"

	"github.com/dgraph-io/badger/v4/pb"

	"github.com/webindexer/indexer/store"
	"github.com/webindexer/indexer/store/badgerdb/internal/dirfile"
	"github.com/webindexer/indexer/store/badgerdb/internal/manifest"
	"github.com/webindexer/indexer/store/badgerdb/internal/memlog"
)

// TestLogs compares logs with marks. A log is written "number:first-last", and a group that
// was flushed, written out to a table, is one more record of the list.
func TestLogs(t *testing.T) {
	open := baseline{State: stateOpen, Group: 100, Logs: []logMark{{3, 90}, {4, 100}}, NextLog: 5}
	fresh := baseline{State: stateOpen, NextLog: 1}
	for _, tc := range []struct {
		name    string
		from    baseline
		flushed int
		logs    string
		slot    slot
		want    string // in the error
		lost    string // "first-last" after a lost machine
	}{
		{"new", fresh, 0, "", slot{}, "", ""},
		{"one log", fresh, 0, "1:1-7", slot{group: 7}, "", ""},
		{"a group nobody was told of", fresh, 0, "1:1-8", slot{group: 7}, "", ""},
		{"cut", fresh, 0, "1:1-5", slot{group: 7}, "00001.mem: the record at byte 50 is broken or missing", "6-7"},
		{"cut to nothing", fresh, 0, "1:", slot{group: 7}, "00001.mem: it has been cut", "1-7"},
		{"removed", fresh, 0, "", slot{group: 7}, "00001.mem: it is missing", "1-7"},
		{"two logs", fresh, 0, "1:1-7 2:8-9", slot{group: 9}, "", ""},
		{"the first of two removed", fresh, 0, "2:8-9", slot{group: 9}, "00001.mem: it is missing", "1-9"},
		{"the first of two cut", fresh, 0, "1:1-5 2:8-9", slot{group: 9}, "00001.mem: the record at byte 50 is broken or missing", "6-9"},
		{"the second of two removed", fresh, 0, "1:1-7", slot{group: 9}, "00002.mem is missing", "8-9"},
		{"the second of three removed", fresh, 0, "1:1-7 3:10-12", slot{group: 12}, "00002.mem: it is missing", "8-12"},
		{"the first written out", fresh, 1, "2:8-9", slot{group: 9}, "", ""},
		{"the first written out and still there", fresh, 1, "1:1-7 2:8-9", slot{group: 9}, "", ""},
		{"the first written out and the second not begun", fresh, 1, "1:1-7", slot{group: 7}, "", ""},
		{"the first written out, the second removed", fresh, 1, "", slot{group: 9}, "00002.mem: it is missing", "1-9"},
		{"the first written out, the second of three removed", fresh, 1, "3:10-12", slot{group: 12}, "00002.mem: it is missing", "1-12"},
		{"all written out by closing", fresh, 2, "", slot{group: 9, flushed: 2, through: 9}, "", ""},
		{"not all written out by closing", fresh, 1, "", slot{group: 9, flushed: 2, through: 9}, "00002.mem: it is missing", "1-9"},
		{"more after all was written out", fresh, 2, "3:10-12", slot{group: 12, flushed: 2, through: 9}, "", ""},
		{"more after all was written out, removed", fresh, 2, "", slot{group: 12, flushed: 2, through: 9}, "00003.mem: it is missing", "1-12"},
		{"old logs", open, 0, "3:80-90 4:91-100 5:101-110", slot{group: 110}, "", ""},
		{"nothing after the old ones", open, 0, "3:80-90 4:91-100", slot{group: 100}, "", ""},
		{"an old log removed", open, 0, "4:91-100 5:101-110", slot{group: 110}, "00003.mem: it is missing", "error"},
		{"an old log cut", open, 0, "3:80-90 4:91-95", slot{group: 100}, "00004.mem: the record", "error"},
		{"an old log written out", open, 1, "4:91-100 5:101-110", slot{group: 110}, "", ""},
		{"an old log written out, another removed", open, 1, "5:101-110", slot{group: 110}, "00004.mem: it is missing", "error"},
		{"both written out", open, 2, "5:101-110", slot{group: 110}, "", ""},
		{"both written out, the new one removed", open, 2, "", slot{group: 110}, "00005.mem: it is missing", "101-110"},
		{"three written out", open, 3, "6:111-112", slot{group: 112}, "", ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			p := testProgress(t, tc.from, tc.flushed, tc.logs, tc.slot)
			p.same, p.strict = true, true
			err := p.check()
			if tc.want == "" && err != nil || tc.want != "" && (!errors.Is(err, store.ErrCorrupt) || !strings.Contains(err.Error(), tc.want)) {
				t.Errorf("%v; want %q", err, tc.want)
			}
			p = testProgress(t, tc.from, tc.flushed, tc.logs, tc.slot)
			err = p.check()
			lost := ""
			if err != nil {
				lost = "error"
			} else if p.lost != "" {
				if _, err := fmt.Sscanf(p.lost[strings.Index(p.lost, "writes "):], "writes %s to %d", new(string), new(int)); err != nil {
					t.Fatal(err)
				}
				lost = strings.ReplaceAll(strings.TrimPrefix(strings.Split(p.lost[strings.Index(p.lost, "writes "):], ",")[0], "writes "), " to ", "-")
			}
			if lost != tc.lost {
				t.Errorf("after a lost machine: lost %q, want %q (%v)", lost, tc.lost, err)
			}
		})
	}
}

// testProgress makes files of the logs, so that they can be set aside.
func testProgress(t *testing.T, from baseline, flushed int, logs string, s slot) *progress {
	t.Helper()
	dir := t.TempDir()
	if err := os.MkdirAll(filepath.Join(dir, dirfile.Badger), 0o755); err != nil {
		t.Fatal(err)
	}
	p := &progress{dir: dir, mark: &mark{baseline: from, slot: s}}
	p.mark.List = testList(t, dir, 0).Mark()
	p.list = testList(t, dir, flushed)
	for text := range strings.FieldsSeq(logs) {
		l := &memlog.Log{Stop: 50}
		if n, err := fmt.Sscanf(text, "%d:%d-%d", &l.Number, &l.First, &l.Last); n < 1 {
			t.Fatal(err)
		}
		l.File = p.logFile(l.Number)
		if err := os.WriteFile(l.File, make([]byte, 100), 0o600); err != nil {
			t.Fatal(err)
		}
		if l.Last == 0 {
			p.empty = append(p.empty, l)
			continue
		}
		l.Entries = 1
		p.logs = append(p.logs, l)
	}
	return p
}

// testList makes a list of tables, with a record for each of some logs that were written out.
func testList(t *testing.T, dir string, flushed int) *manifest.List {
	t.Helper()
	list := []byte("Bdgr\x00\x00\x00\x08")
	sets := []*pb.ManifestChangeSet{{}} // Badger begins with all tables, of which there are none
	for i := range flushed {
		sets = append(sets, &pb.ManifestChangeSet{Changes: []*pb.ManifestChange{{Id: uint64(i + 1), Op: pb.ManifestChange_CREATE}}})
	}
	for _, set := range sets {
		data, err := proto.Marshal(set)
		if err != nil {
			t.Fatal(err)
		}
		list = binary.BigEndian.AppendUint32(list, uint32(len(data)))
		list = binary.BigEndian.AppendUint32(list, crc32.Checksum(data, castagnoli))
		list = append(list, data...)
	}
	if err := os.WriteFile(manifest.File(dir), list, 0o600); err != nil {
		t.Fatal(err)
	}
	read, err := manifest.Read(dir)
	if err != nil {
		t.Fatal(err)
	}
	return read
}

// killed is the image of a table whose log is named.
func killed(t *testing.T) (files image, log string) {
	t.Helper()
	return imageOfTable(t), filepath.Join(dirfile.Badger, "00001.mem")
}

// TestCutLog: a log that was cut, at any place, or removed is damage, though it looks as
// if nothing more had been written. What follows the last group that was acknowledged may be torn.
func TestCutLog(t *testing.T) {
	files, name := killed(t)
	used := files[name].used
	for _, length := range []int{0, 1, 19, 20, 21, 100, len(used) / 3, len(used) / 2, len(used) - 300, len(used) - 7, len(used) - 1} {
		for _, size := range []int64{int64(length), files[name].size} {
			if length == 0 && size > 0 {
				continue // not even the header: the next one
			}
			cut := files.with(name, imageFile{used: used[:length], size: size})
			wantNamed(t, readImage(t, cut, "", nil), name)
		}
	}
	wantNamed(t, readImage(t, files.without(name), "", nil), name)
	torn := append(bytes.Clone(used), used[memlog.HeaderBytes:memlog.HeaderBytes+30]...)
	if err := readImage(t, files, name, torn); err != nil {
		t.Errorf("a group that was torn before anybody was told of it: %v", err)
	}
}

func (files image) without(name string) image {
	rest := image{}
	for file, f := range files {
		if file != name {
			rest[file] = f
		}
	}
	return rest
}

func (files image) with(name string, f imageFile) image {
	all := files.without(name)
	all[name] = f
	return all
}

// reboot changes the image to that of a machine that was started again.
func (files image) reboot(t *testing.T) image {
	t.Helper()
	dir := t.TempDir()
	files.write(t, dir, "", nil)
	m, err := readMark(dir)
	if err != nil {
		t.Fatal(err)
	}
	m.Boot = "another"
	page, err := m.text()
	if err != nil {
		t.Fatal(err)
	}
	return files.with(markName, imageFile{used: page, size: markBytes})
}

// TestLostMachine: after a machine was started again, a log that is shorter than the mark
// says opens with what is there, and tells what is gone. With SyncWrites that is damage.
func TestLostMachine(t *testing.T) {
	files, name := killed(t)
	used := files[name].used
	files = files.reboot(t)
	for _, cut := range []int{0, 1, 3, 7, 40, 300} {
		core, logs := observer.New(zap.WarnLevel)
		dir := t.TempDir()
		files.write(t, dir, name, used[:len(used)-cut])
		db, err := Open(dir, testGroups, Options{Logger: zap.New(core).Sugar()})
		if err != nil {
			t.Fatalf("%d bytes cut off: %v", cut, err)
		}
		lost := 0
		for i := range flippedRows {
			if readRow(t, db, fmt.Sprint("row", i)) == "" {
				lost++
			}
		}
		if lost > 2 || cut == 300 && lost == 0 {
			t.Errorf("%d bytes cut off, %d rows lost", cut, lost)
		}
		if told := logs.FilterMessageSnippet("the machine was lost").Len() > 0; told != (lost > 0) {
			t.Errorf("%d rows lost: %v", lost, logs.All())
		}
		mustMutate(t, db, "new", mutation("data", "c", 1, "v"))
		closeTest(t, db)
		closeTest(t, openTest(t, dir, Options{}))
	}
}

// TestUpgrade: a table of format 1 has no mark; it opens, and has one from then on.
func TestUpgrade(t *testing.T) {
	files, name := killed(t)
	old := imageFile{used: []byte(stampMagic + "\nformat 1\n"), size: int64(len(stampMagic) + 10)}
	files = files.without(markName).with(stampName, old)
	if err := readImage(t, files, "", nil); err != nil {
		t.Fatal(err)
	}
	used := bytes.Clone(files[name].used)
	used[len(used)/3] ^= 1
	wantNamed(t, readImage(t, files, name, used), name) // as before
	dir := t.TempDir()
	files.write(t, dir, "", nil)
	closeTest(t, openTest(t, dir, Options{}))
	if format, err := readStamp(dir); err != nil || format != formatNow {
		t.Errorf("the format is %d, %v", format, err)
	}
	if err := os.Remove(markFile(dir)); err != nil {
		t.Fatal(err)
	}
	_, err := Open(dir, testGroups, Options{})
	wantNamed(t, err, markName)
}

// TestMovedValues: a log may hold values that the value log's collector has moved; they
// belong to no group.
func TestMovedValues(t *testing.T) {
	dir := t.TempDir()
	db := openTest(t, dir, Options{})
	large := strings.Repeat("large", 1<<18)
	mustMutate(t, db, "kept", mutation("last", "c", 1, large))
	for ts := range uint64(60) {
		mustMutate(t, db, "r", mutation("last", "c", ts, large))
	}
	if err := db.Reclaim(t.Context()); err != nil {
		t.Fatal(err)
	}
	mustMutate(t, db, "after", mutation("data", "c", 1, "v"))
	copied := copyOpen(t, dir)
	closeTest(t, db)
	logs, err := memlog.ReadAll(copied)
	if err != nil || len(logs) != 1 || logs[0].Entries < 2 {
		t.Errorf("%d logs, %v: this tests nothing", len(logs), err)
	}
	db = openTest(t, copied, Options{})
	defer closeTest(t, db)
	for row, want := range map[string]string{"kept": "last:c@1=" + large[:20], "after": "data:c@1=v"} {
		if got := readRow(t, db, row); got != want {
			t.Errorf("row %s has %q", row, got)
		}
	}
}

// TestClosedTable: a table that was closed has exactly what it was closed with.
func TestClosedTable(t *testing.T) {
	dir := t.TempDir()
	db := openTest(t, dir, Options{})
	mustMutate(t, db, "r", mutation("data", "c", 1, "v"))
	closeTest(t, db)
	whole, err := os.ReadFile(manifest.File(dir))
	if err != nil {
		t.Fatal(err)
	}
	for length := range len(whole) {
		if err := os.WriteFile(manifest.File(dir), whole[:length], 0o600); err != nil {
			t.Fatal(err)
		}
		_, err := Open(dir, testGroups, Options{})
		wantNamed(t, err, "MANIFEST")
	}
}

// TestTornSlot: a process that dies while it writes a slot leaves the other one.
func TestTornSlot(t *testing.T) {
	dir := t.TempDir()
	db := openTest(t, dir, Options{})
	for ts := range uint64(5) {
		mustMutate(t, db, "r", mutation("data", "c", ts, "v"))
	}
	page := bytes.Clone(db.mark.page)
	want, turn := db.mark.group, db.mark.turn
	closeTest(t, db)
	for _, tc := range []struct {
		name string
		slot uint64
		want uint64
	}{{"the last", turn, want - 1}, {"the one before", turn ^ 1, want}} {
		for at := range slotBytes {
			torn := bytes.Clone(page)
			slotAt(torn, tc.slot)[at] ^= 0x40
			if err := os.WriteFile(markFile(dir), torn, 0o600); err != nil {
				t.Fatal(err)
			}
			m, err := readMark(dir)
			if err != nil || m.group != tc.want {
				t.Errorf("%s, byte %d: %v, %v", tc.name, at, m, err)
			}
		}
	}
}

func FuzzReadMark(f *testing.F) {
	m := &mark{baseline: baseline{State: stateOpen, Logs: []logMark{{1, 2}}}, slot: slot{group: 9}}
	page, err := m.text()
	if err != nil {
		f.Fatal(err)
	}
	f.Add(page)
	f.Add(page[:100])
	f.Fuzz(func(t *testing.T, b []byte) {
		dir := t.TempDir()
		if err := os.WriteFile(markFile(dir), b, 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := readMark(dir); err != nil && !errors.Is(err, store.ErrCorrupt) {
			t.Error(err)
		}
	})
}

func BenchmarkMark(b *testing.B) {
	dir := b.TempDir()
	db := openTest(b, dir, Options{})
	defer closeTest(b, db)
	m := *db.mark
	m.page = make([]byte, markBytes)
	b.ReportAllocs()
	for b.Loop() {
		if err := m.advance(m.group + 1); err != nil {
			b.Fatal(err)
		}
	}
}
