package badgerdb

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"io/fs"
	"os"
	"path/filepath"
	"runtime/debug"
	"strconv"
	"strings"

	"github.com/webindexer/indexer/store/badgerdb/internal/dirfile"
	"github.com/webindexer/indexer/store/badgerdb/internal/errs"
	"github.com/webindexer/indexer/store/badgerdb/internal/manifest"
	"github.com/webindexer/indexer/store/badgerdb/internal/memlog"
	"github.com/webindexer/indexer/store/badgerdb/internal/system"
)

// The file HIGHWATER records the last group of writes, so that opening a table that lacks
// it is an error. Badger itself cannot tell a truncated or removed log from one that
// never held more.
//
//	page    [4096]
//	├── baseline   text: a line of magic, a line of JSON, its checksum in hexadecimal
//	└── slots      two, from byte 3072
//	slot    [40]
//	├── group [8]      the last acknowledged group
//	├── valueLog [8]   the newest file of the value log
//	├── flushed [8]    the newest log when groups were last written out from all
//	├── through [8]    the last group at that time
//	└── checksum [8]   of the four
//
// The baseline is replaced, by rename, whenever the table is opened or closed. The slots
// are written through a memory map, alternately, after a group is in Badger's log and
// before any caller is answered. That costs some twenty nanoseconds, and survives a killed
// process as the log does. If a process dies while it writes one slot, the other slot
// holds the previous group; no caller was told about the later one.
//
// Without SyncWrites a lost machine may have written this page and not the log. Then
// the mark is ahead, which is not damage; only the boot id of the machine
// distinguishes the two: see checkProgress.
const (
	markName   = "HIGHWATER"
	markMagic  = "indexer high-water mark"
	markBytes  = 4096
	markSlots  = 3072
	slotBytes  = 40
	slotFields = 4

	valueLogSuffix = ".vlog"
)

// baseline is the state when the table was opened or closed.
type baseline struct {
	State string `json:"state"`          // stateOpen or stateClosed
	Boot  string `json:"boot,omitempty"` // of the machine, "" where it does not tell
	Sync  bool   `json:"sync"`           // groups are on the disk before they are marked
	// Group is at least the number of the last group at that time.
	Group uint64 `json:"group"`
	// Logs are the logs with entries, in the order in which they were written; all of
	// them were on the disk. Badger numbers the next ones from NextLog without gaps.
	Logs    []logMark     `json:"logs,omitempty"`
	NextLog int           `json:"nextLog"`
	List    manifest.Mark `json:"manifest"`
	// Waste is about how many bytes of the blob files are waste (blobgc.go).
	Waste int64 `json:"waste,omitempty"`

	list   *manifest.List // that List describes, when the table was opened
	replay int64          // how much of a memtable replaying the largest of Logs takes, at most
}

const (
	stateOpen   = "open"
	stateClosed = "closed"
)

// logMark describes a log at that time.
type logMark struct {
	Number int    `json:"number"`
	Last   uint64 `json:"last"` // group
}

// slot is the part that changes while the table is open.
type slot struct {
	group, valueLog, flushed, through uint64
}

// mark is a HIGHWATER file that was read or is being written.
type mark struct {
	file string
	baseline
	slot
	log    uint64       // the log of the last group, or an empty one after it
	page   []byte       // mapped, nil if it is not
	turn   uint64       // the slot that was written last
	unmap  func() error // of page
	broken error        // writing it failed
}

func markFile(dir string) string { return filepath.Join(dir, markName) }

// readMark returns nil if there is no file.
func readMark(dir string) (*mark, error) {
	file := markFile(dir)
	b, err := os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("store: %w", err)
	}
	if len(b) != markBytes {
		return nil, errs.Corrupt(file, "it has %d bytes, not %d", len(b), markBytes)
	}
	m := &mark{file: file}
	lines := strings.SplitN(string(b[:markSlots]), "\n", 4)
	if len(lines) != 4 || lines[0] != markMagic || lines[2] != sumText(lines[1]) || strings.Trim(lines[3], "\x00") != "" ||
		json.Unmarshal([]byte(lines[1]), &m.baseline) != nil {
		return nil, errs.Corrupt(file, "its text is damaged")
	}
	one, ok := readSlot(b, 0)
	two, also := readSlot(b, 1)
	switch {
	case !ok && !also:
		return nil, errs.Corrupt(file, "its numbers are damaged")
	case ok && (!also || !one.before(two)):
		m.slot = one
	default:
		m.slot = two
	}
	return m, nil
}

func sumText(line string) string {
	return fmt.Sprintf("%08x", crc32.Checksum([]byte(line), castagnoli))
}

func slotAt(page []byte, i uint64) []byte { return page[markSlots+int(i)*slotBytes:][:slotBytes] }

func readSlot(page []byte, i uint64) (s slot, ok bool) {
	b := slotAt(page, i)
	at := func(i int) uint64 { return binary.LittleEndian.Uint64(b[8*i:]) }
	s = slot{group: at(0), valueLog: at(1), flushed: at(2), through: at(3)}
	return s, at(slotFields) == slotSum(b)
}

func (s *slot) before(t slot) bool {
	return s.group < t.group || s.group == t.group && s.flushed < t.flushed
}

// slotSum repeats the bits of the checksum inverted, so that zeros are not a valid slot.
func slotSum(b []byte) uint64 {
	c := crc32.Checksum(b[:8*slotFields], castagnoli)
	return uint64(c)<<32 | uint64(^c)
}

// text is the whole page, with the same numbers in both slots.
func (m *mark) text() ([]byte, error) {
	line, err := json.Marshal(&m.baseline)
	if err != nil {
		return nil, fmt.Errorf("store: %w", err)
	}
	var b bytes.Buffer
	fmt.Fprintf(&b, "%s\n%s\n%s\n", markMagic, line, sumText(string(line)))
	if b.Len() > markSlots {
		return nil, fmt.Errorf("store: %d logs are too many for %s", len(m.Logs), m.file)
	}
	page := append(b.Bytes(), make([]byte, markBytes-b.Len())...)
	for i := range uint64(2) {
		m.putSlot(page, i)
	}
	return page, nil
}

// putSlot writes one slot. Until its checksum is written it is not valid, and the other
// one counts.
func (m *mark) putSlot(page []byte, i uint64) {
	b := slotAt(page, i)
	for i, v := range [slotFields]uint64{m.group, m.valueLog, m.flushed, m.through} {
		binary.LittleEndian.PutUint64(b[8*i:], v)
	}
	binary.LittleEndian.PutUint64(b[8*slotFields:], slotSum(b))
}

// write replaces the file, and returns when it is on the disk.
func (m *mark) write(dir string) error {
	page, err := m.text()
	if err != nil {
		return err
	}
	if err := dirfile.ReplaceSynced(dir, markName, page); err != nil {
		return errs.Run("recording the last group of writes", err)
	}
	return nil
}

// advance marks a group. It is called with the committer's writeMu held, after the
// group is in Badger's log and before any caller is answered.
func (m *mark) advance(group uint64) error {
	m.group = max(m.group, group)
	return m.update()
}

// flushing marks that all logs are about to be written out to tables: afterwards all of
// them may be gone, without a next one. A log that was made after the last group does not
// count: Badger removes it, and adds nothing to the MANIFEST.
func (m *mark) flushing() error {
	if m.through == m.group {
		return m.broken
	}
	m.flushed = max(m.flushed, m.log)
	m.through = m.group
	return m.update()
}

// sawLog records the newest log. It is called when Badger has begun one, before the group that goes
// there is marked.
func (m *mark) sawLog(dir string) (err error) {
	m.log, err = newestFile(dir, memlog.Suffix)
	return err
}

// sawValueLog records the newest file of the value log, after a value was written there.
// The next update stores it in a slot.
func (m *mark) sawValueLog(dir string) {
	for {
		if _, err := os.Stat(valueLogFile(dir, m.valueLog+1)); err != nil {
			return
		}
		m.valueLog++
	}
}

// newestFile returns the greatest number that is, with the ending, the name of a file; 0
// if there is none.
func newestFile(dir, ending string) (greatest uint64, err error) {
	files, err := dirfile.Matching(badgerDir(dir), "*"+ending)
	if err != nil {
		return 0, err
	}
	for _, file := range files {
		if n, err := strconv.ParseUint(strings.TrimSuffix(filepath.Base(file), ending), 10, 32); err == nil {
			greatest = max(greatest, n)
		}
	}
	return greatest, nil
}

func valueLogFile(dir string, number uint64) string {
	return filepath.Join(badgerDir(dir), fmt.Sprintf("%06d%s", number, valueLogSuffix))
}

// update writes the next slot. If the map cannot be written, because the disk is full or the
// file was truncated, it returns an error instead of ending the process.
func (m *mark) update() (err error) {
	if m.broken != nil {
		return m.broken
	}
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		if p := recover(); p != nil {
			m.broken = faultError(m.file, p)
			err = m.broken
		}
	}()
	m.turn ^= 1
	m.putSlot(m.page, m.turn)
	return nil
}

// newMark makes the mark of a table that continues from a baseline.
func newMark(dir string, from baseline) (*mark, error) {
	m := &mark{file: markFile(dir), baseline: from, slot: slot{group: from.Group}}
	var err error
	if m.valueLog, err = newestFile(dir, valueLogSuffix); err != nil {
		return nil, err
	}
	return m, m.write(dir)
}

// open maps the file, once Badger has made its own files.
func (m *mark) open(dir string) (err error) {
	if m.page, m.unmap, err = system.Map(m.file, markBytes); err != nil {
		return fmt.Errorf("store: mapping %s: %w", m.file, err)
	}
	if m.valueLog, err = newestFile(dir, valueLogSuffix); err != nil {
		return err
	}
	if err := m.sawLog(dir); err != nil {
		return err
	}
	return m.update()
}

// close unmaps the file.
func (m *mark) close() error {
	if m == nil || m.page == nil {
		return nil
	}
	m.page = nil
	if err := m.unmap(); err != nil {
		return fmt.Errorf("store: unmapping %s: %w", m.file, err)
	}
	return nil
}
