package archive

import (
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"strings"

	"github.com/webindexer/indexer/page"
	"github.com/webindexer/indexer/warc"
)

// A killed run leaves NAME.open. All acknowledged exchanges are complete in it. A
// partial record may follow: half a gzip member, at which most tools stop with an
// error. Recovery cuts it off, and builds the index, which is kept in memory until a
// file is complete, from the file. The order is
//
//   1. cut the file behind its last complete record,
//   2. write its index, under its name at once,
//   3. give the file its name.
//
// A kill in between leaves NAME.open, and the next run does all of it again.

// filesLeft lists the files that killed runs left in a directory.
func filesLeft(dir string) ([]string, error) {
	left, err := filepath.Glob(filepath.Join(escapeGlob(dir), "*.warc.gz.open"))
	if err != nil {
		return nil, fmt.Errorf("archive: look for files left open in %s: %w", dir, err)
	}
	return left, nil
}

// EachLeft calls fn with each fetch in the files that killed runs left in a directory. The last
// ones may not have been loaded. Call it before Open, which completes the files.
func EachLeft(dir string, fn func(*page.Fetch) error) error {
	left, err := filesLeft(dir)
	if err != nil {
		return err
	}
	for _, path := range left {
		if err := eachFetch(path, fn); err != nil {
			return fmt.Errorf("archive: read %s, which a killed run left: %w", path, err)
		}
	}
	return nil
}

func eachFetch(path string, fn func(*page.Fetch) error) (err error) {
	r, err := warc.Open(path, warc.Options{MaxBody: math.MaxInt32, NoDigests: true})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, r.Close()) }()
	for {
		rec, err := r.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		if f, ok := rec.Fetch(); ok && f.Err == "" {
			if err := fn(&f); err != nil {
				return err
			}
		}
	}
}

// recoverFiles completes the files that killed runs left in a directory.
func recoverFiles(dir string) error {
	left, err := filesLeft(dir)
	if err != nil {
		return err
	}
	for _, path := range left {
		if err := recoverFile(path); err != nil {
			return fmt.Errorf("archive: complete %s, which a killed run left: %w", path, err)
		}
	}
	return nil
}

func recoverFile(path string) error {
	name := strings.TrimSuffix(path, ".open")
	index := strings.TrimSuffix(name, ".warc.gz") + ".cdxj"
	entries, end, err := survey(path)
	if err != nil {
		return err
	}
	if end == 0 { // it has no record; after the loss of the machine, its index may say otherwise
		if err := os.Remove(index); err != nil && !errors.Is(err, os.ErrNotExist) {
			return err
		}
		return os.Remove(path)
	}
	if err := cutAt(path, end); err != nil {
		return err
	}
	if err := writeIndex(index, filepath.Base(name), entries); err != nil {
		return err
	}
	return os.Rename(path, name)
}

// survey reads a file to its end. It returns the index entries and where the last
// complete record ends, 0 if there is none.
func survey(path string) (entries []entry, end int64, err error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, 0, err
	}
	// The fetcher's limit on responses is not known here.
	r, err := warc.Open(path, warc.Options{MaxBody: math.MaxInt32, NoDigests: true})
	if err != nil {
		return nil, 0, err
	}
	defer func() { err = errors.Join(err, r.Close()) }()
	var open *entry // the last exchange, whose end is where the next record begins
	endsAt := func(at int64) {
		if open != nil {
			open.to = at
			entries, open = append(entries, *open), nil
		}
	}
	for {
		rec, err := r.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, 0, err
		}
		endsAt(rec.Offset)
		if rec.Damage != "" {
			// Only a kill damages our files, and only at the end.
			return entries, rec.Offset, nil
		}
		if open, err = entryOf(rec); err != nil {
			return nil, 0, err
		}
		end = info.Size()
	}
	// Bytes that do not form a record appear only as a problem.
	for _, p := range r.Problems() {
		if isTail := open == nil || p.Offset > open.from; isTail && p.Record == "" {
			end = min(end, p.Offset)
		}
	}
	endsAt(end)
	return entries, end, nil
}

// entryOf returns the index entry for a record; nil for a request.
func entryOf(rec *warc.Record) (*entry, error) {
	if rec.Type != "response" && rec.Type != "revisit" {
		return nil, nil
	}
	u, err := page.ParseURL(rec.TargetURI)
	if err != nil {
		return nil, err
	}
	digest := rec.Fields.Get("WARC-Payload-Digest")
	if digest == "" {
		digest = warc.Digest(nil)
	}
	from := rec.Offset
	f, _ := rec.Fetch() // the body may not decode; only the header matters here
	e := newEntry(u, &f, digest, from, 0)
	return &e, nil
}

// cutAt shortens a file to size, and syncs it.
func cutAt(path string, size int64) (err error) {
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	if err := f.Truncate(size); err != nil {
		return err
	}
	return f.Sync()
}
