package index

import (
	"errors"
	"fmt"
	"hash/crc32"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
)

// # The mark
//
// SQLite recovers a log up to the first damaged frame and silently drops the rest; it
// treats a missing log as an empty one; and it cannot tell an older copy of the files from
// the files. In each case the index is sound, but old. So there is a file of one line next
// to the directory of the index files, not in it. It says which files were written (their
// ID) and how many transactions they had applied (State.Applied).
//
// The writer commits a transaction, writes the mark, and then tells its callers. A reader
// reads the mark, takes its snapshot, and compares. Hence
//
//  1. What the mark says was committed before the mark was written. A snapshot taken after reading
//     the mark has at least as much, unless something was lost. So a sound index is never refused.
//  2. The mark counts every acknowledged change. If one is lost, every reader notices.
//
// A process killed before the commit leaves both as they were. A process killed between
// commit and mark leaves a mark that is one transaction behind, which (1) allows. The mark
// is overwritten in place, in one write of fewer bytes than a block, so a kill does not cut
// it. A reader that reads during the write may see a mixture; the checksum reveals that,
// and it reads again. After a power failure the mark may be ahead of a log that was never
// synced: then something was lost, and the error is right.
//
// Files that replace others have an ID of their own, and know the ID of the mark that they
// found (meta "succeeds", next.go). Between the rename and the new mark, that ID is
// accepted.
//
// A missing mark is not an error: an index that was copied without it is read as it is. The
// next writer makes a mark.
//
// Rejected: the number in a file in the directory, because an older copy of the directory
// includes it; a file mapped into memory, because a full disk becomes a signal; replacing
// the mark by a rename, because that costs twenty times as much.
type mark struct {
	id      string // of the files
	applied uint64
}

// markPath returns the path of the mark of the index in dir.
func markPath(dir string) string { return filepath.Clean(dir) + ".mark" }

const markFormat = "index mark 1 %s %020d"

func (m mark) line() string {
	text := fmt.Sprintf(markFormat, m.id, m.applied)
	return fmt.Sprintf("%s %08x\n", text, crc32.ChecksumIEEE([]byte(text)))
}

// parseMark reads what line wrote.
func parseMark(line string) (m mark, ok bool) {
	if _, err := fmt.Sscanf(line, markFormat, &m.id, &m.applied); err != nil {
		return mark{}, false
	}
	return m, m.line() == line
}

// errMark means that the file is not a mark.
var errMark = errors.New("not a mark")

// readMark reads the mark of the index in dir. It returns nil if there is none.
func readMark(dir string) (*mark, error) {
	path := markPath(dir)
	for try := 0; ; try++ {
		line, err := os.ReadFile(path)
		if errors.Is(err, fs.ErrNotExist) {
			return nil, nil
		}
		if err != nil {
			return nil, fmt.Errorf("read the mark of the index files: %w", err)
		}
		if m, ok := parseMark(string(line)); ok {
			return &m, nil
		}
		if try == 10 { // a write in progress does not explain that many failures
			return nil, fmt.Errorf("%w: %s: %w", ErrCorrupt, path, errMark)
		}
	}
}

// marker writes the mark. It is safe for concurrent use.
type marker struct {
	dir string

	mu   sync.Mutex
	file *os.File // nil until there is a mark of these files
}

// put writes m.
func (k *marker) put(m mark) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	err := k.write(m)
	if err != nil {
		return fmt.Errorf("write the mark of the index files: %w", err)
	}
	return nil
}

func (k *marker) write(m mark) error {
	if k.file != nil {
		_, err := k.file.WriteAt([]byte(m.line()), 0)
		return err
	}
	// The first mark is completed under another name, so that no reader sees a part of
	// it.
	path := markPath(k.dir)
	f, err := os.OpenFile(path+unfinished, os.O_RDWR|os.O_CREATE|os.O_TRUNC, 0o666)
	if err != nil {
		return err
	}
	_, err = f.WriteString(m.line())
	if err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		return errors.Join(err, f.Close())
	}
	k.file = f
	return nil
}

func (k *marker) close() error {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.file == nil {
		return nil
	}
	f := k.file
	k.file = nil
	return f.Close()
}

// behind compares index files with the mark. It returns nil if they are not behind it.
func behind(m *mark, of *meta, applied uint64) error {
	switch {
	case m == nil, m.id == of.id && applied >= m.applied:
		return nil
	case m.id == of.id:
		return fmt.Errorf("%w: %d of %d transactions are there", ErrBehind, applied, m.applied)
	case of.succeeds != "" && m.id == of.succeeds:
		return nil
	}
	return fmt.Errorf("%w: other files were in their place when it was last written (%s, now %s)", ErrBehind, short(m.id), short(of.id))
}

func short(id string) string { return strings.TrimSpace(id[:min(8, len(id))]) }
