package badgerdb

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/dgraph-io/badger/v4/skl"

	"github.com/webindexer/indexer/store/badgerdb/internal/dirfile"
	"github.com/webindexer/indexer/store/badgerdb/internal/errs"
	"github.com/webindexer/indexer/store/badgerdb/internal/manifest"
	"github.com/webindexer/indexer/store/badgerdb/internal/memlog"
	"github.com/webindexer/indexer/store/badgerdb/internal/system"
)

// progress compares what a directory holds with how far the table had come, before Badger
// opens it. All that was acknowledged is in tables, which the MANIFEST lists, or in logs.
//
// There must be the logs of the baseline, and after them those that Badger has made since,
// numbered without gaps. Badger writes them out in order, adds one record to the MANIFEST
// for each, and only then removes it. So the number of such records since the baseline is
// the number of logs that may be missing, from the oldest; the next one must be there. The
// logs must hold groups without a gap, up to the one that is marked.
//
// If some groups are missing, there are two possible reasons. Either the machine crashed
// while the table was open without SyncWrites, and had written the mark but not the last
// logs. Then Open keeps the complete groups from the beginning on, sets the rest aside, and
// logs the loss. Or the files are damaged: the machine was not restarted in between, or
// every group was synced. Then Open fails with an error that names the file.
//
// Two losses are not recognised. Without SyncWrites, a missing log from before a restart of
// the machine is mistaken for one that the machine lost, and logged as such. And once
// Badger has rewritten its MANIFEST, which takes 10,000 replaced tables while the table is
// open, the loss of the oldest of several logs goes unnoticed until the table is opened
// again.
type progress struct {
	dir    string
	mark   *mark // nil for a table of format 1
	list   *manifest.List
	logs   []*memlog.Log // with entries
	empty  []*memlog.Log
	same   bool // the machine was not started again
	strict bool // less is damage
	lost   string
	lostTo uint64 // the last group that was lost
}

// checkProgress returns the baseline from which the table continues; groups up to a number
// are in tables. It logs what a crash of the machine has lost. The caller holds the
// directory.
func checkProgress(dir string, m *mark, tables uint64, values *blobs, log Logger) (next baseline, err error) {
	p := progress{dir: dir, mark: m}
	if m != nil {
		p.same = m.Boot != "" && m.Boot == system.BootID()
		p.strict = p.same || m.Sync
	}
	if p.list, err = manifest.Read(dir); err != nil {
		return next, err
	}
	all, err := memlog.ReadAll(dir)
	if err != nil {
		return next, err
	}
	if err := p.cutLostValues(all, values); err != nil {
		return next, err
	}
	for _, l := range all {
		if l.Entries > 0 {
			p.logs = append(p.logs, l)
		} else {
			p.empty = append(p.empty, l)
		}
	}
	if err := p.check(); err != nil {
		return next, err
	}
	for _, l := range p.empty {
		if err := os.Remove(l.File); err != nil {
			return next, fmt.Errorf("store: remove a log without entries: %w", err)
		}
	}
	if p.lost != "" {
		log.Warnf("%s", p.lost)
	}
	return p.next(tables)
}

// next is the baseline. The numbers of lost groups are not given again.
func (p *progress) next(tables uint64) (next baseline, err error) {
	next = baseline{State: stateOpen, Boot: system.BootID(), Group: tables, NextLog: 1, List: p.list.Mark(), list: p.list}
	if p.mark != nil {
		next.Group = max(next.Group, p.mark.Group, p.mark.group, p.lostTo)
		next.Waste = p.mark.Waste
	}
	for _, l := range p.logs {
		next.Group = max(next.Group, l.Last)
		next.Logs = append(next.Logs, logMark{Number: l.Number, Last: l.Last})
		next.NextLog = l.Number + 1
		next.replay = max(next.replay, l.Stop+int64(l.Entries*skl.MaxNodeSize))
		if err := syncFile(l.File); err != nil {
			return next, err
		}
	}
	return next, nil
}

func syncFile(file string) error {
	f, err := os.OpenFile(file, os.O_RDWR, 0)
	if err != nil {
		return fmt.Errorf("store: %w", err)
	}
	if err := errors.Join(f.Sync(), f.Close()); err != nil {
		return fmt.Errorf("store: syncing %s: %w", file, err)
	}
	return nil
}

func (p *progress) check() error {
	switch {
	case p.mark != nil && p.list.Empty() && (p.mark.List.Bytes > 0 || p.mark.group > 0):
		return errs.Corrupt(manifest.File(p.dir), "it is missing")
	case p.mark == nil:
		return p.checkEnds()
	case p.mark.State == stateClosed:
		return p.checkClosed()
	}
	flushed, known, err := p.list.Since(p.mark.List)
	if err != nil {
		return errs.Corrupt(manifest.File(p.dir), "%v", err)
	}
	if err := p.checkValueLog(); err != nil {
		return err
	}
	if err := p.checkOld(flushed, known); err != nil {
		return err
	}
	if !p.same { // the mark may be behind, too
		if err := p.checkEnds(); err != nil {
			return err
		}
	}
	return p.checkNew(flushed, known)
}

// checkEnds checks how the logs end, where nothing else is known about them.
func (p *progress) checkEnds() error {
	for _, l := range slices.Concat(p.logs, p.empty) {
		if err := l.CheckTorn(); err != nil {
			return err
		}
	}
	return nil
}

// checkClosed checks a table that was closed: everything must be in tables and on the disk.
func (p *progress) checkClosed() error {
	if p.list.Mark() != p.mark.List {
		return errs.Corrupt(manifest.File(p.dir), "it is not the one with which the table was closed")
	}
	if len(p.logs) > 0 {
		return errs.Corrupt(p.logs[0].File, "it was not there when the table was closed")
	}
	return p.checkValueLog()
}

// checkValueLog requires the newest file of the value log, which is never collected.
// Badger would create it again under the same number, and pointers into it would find
// other values. If another file is missing, the reader of its values reports that.
func (p *progress) checkValueLog() error {
	if p.mark.valueLog == 0 {
		return nil
	}
	file := valueLogFile(p.dir, p.mark.valueLog)
	info, err := os.Stat(file)
	if err == nil && info.Size() == 0 {
		err = fs.ErrNotExist
	}
	switch {
	case errors.Is(err, fs.ErrNotExist) && (p.strict || p.mark.State == stateClosed):
		return errs.Corrupt(file, "the newest file of the value log is missing")
	case errors.Is(err, fs.ErrNotExist): // a file without values takes its number
		return dirfile.ReplaceSynced(filepath.Dir(file), filepath.Base(file), make([]byte, memlog.HeaderBytes))
	case err != nil:
		return fmt.Errorf("store: %w", err)
	}
	return nil
}

// find returns a log with entries, nil if there is none of that number.
func (p *progress) find(number int) *memlog.Log {
	for _, l := range p.logs {
		if l.Number == number {
			return l
		}
	}
	return nil
}

func (p *progress) logFile(number int) string {
	return memlog.Path(p.dir, number)
}

// checkOld checks the logs of the baseline. They were on the disk then, so a later crash
// of the machine does not excuse their loss.
func (p *progress) checkOld(flushed int, known bool) error {
	for i, old := range p.mark.Logs {
		l := p.find(old.Number)
		switch {
		case l == nil && (!known || i < flushed):
		case l == nil:
			return errs.Corrupt(p.logFile(old.Number), "it is missing or has been cut, or the MANIFEST has been cut: it held groups of writes up to number %d", old.Last)
		case l.Last < old.Last:
			return errs.Corrupt(l.File, "the record at byte %d is broken or missing: it held groups of writes up to number %d, and has them up to %d", l.Stop, old.Last, l.Last)
		}
	}
	return nil
}

// checkNew checks the logs that Badger made after the baseline.
func (p *progress) checkNew(flushed int, known bool) error {
	var logs []*memlog.Log
	for _, l := range p.logs {
		if l.Number >= p.mark.NextLog && l.Last > 0 {
			logs = append(logs, l)
		}
	}
	// The oldest log that must be there, if a group went to it, and its first group,
	// 0 if that is not known.
	oldest, first := p.mark.NextLog, p.mark.Group+1
	switch {
	case known && flushed > len(p.mark.Logs):
		oldest, first = oldest+flushed-len(p.mark.Logs), 0
	case !known && len(logs) > 0:
		oldest, first = logs[0].Number, 0
	case !known:
		oldest, first = max(oldest, int(p.mark.flushed)+1), 0
	}
	reached := p.mark.Group // the last group that is there
	var before *memlog.Log
	for _, l := range logs {
		switch {
		case l.Skips:
			return errs.Corrupt(l.File, "groups of writes are missing from its middle")
		case l.Number < oldest: // written out, and not removed yet
		case first == 0 && l.Number > oldest, first != 0 && l.First != first:
			return p.short(before, l, oldest, reached)
		}
		reached, first, before = l.Last, l.Last+1, l
		oldest = max(oldest, l.Number+1)
	}
	if p.mark.group <= reached || int(p.mark.flushed) < oldest && p.mark.group <= p.mark.through {
		return nil
	}
	return p.short(before, nil, oldest, reached)
}

// short returns an error that says what is missing between a log and the next one, or the
// mark. Either log may be nil; missing is the number of the log that should be there. If
// a crash of the machine explains the loss, short instead sets aside the next log and all
// that follow.
func (p *progress) short(before, next *memlog.Log, missing int, reached uint64) error {
	if !p.strict {
		return p.setAside(next, reached)
	}
	lacks := fmt.Sprintf("groups of writes up to number %d were acknowledged, and the logs end with %d", p.mark.group, reached)
	switch file := p.logFile(missing); {
	case next != nil && before != nil && next.Number == before.Number+1:
		return errs.Corrupt(before.File, "the record at byte %d is broken or missing, and %s goes on with later ones", before.Stop, next.File)
	case next != nil:
		return errs.Corrupt(file, "it is missing or has been cut, or the MANIFEST has been cut: %s goes on after it", next.File)
	case p.exists(file):
		return errs.Corrupt(file, "it has been cut: %s", lacks)
	case before == nil:
		return errs.Corrupt(file, "it is missing, or the MANIFEST has been cut: %s", lacks)
	default:
		return errs.Corrupt(before.File, "the record at byte %d is broken or missing, or %s is missing: %s", before.Stop, file, lacks)
	}
}

func (p *progress) exists(file string) bool {
	return slices.ContainsFunc(p.empty, func(l *memlog.Log) bool { return l.File == file })
}

// setAside keeps only what is whole from the beginning on: a later group may build on an
// earlier one, so it must not stay without it.
func (p *progress) setAside(from *memlog.Log, reached uint64) error {
	last := p.mark.group
	if from != nil {
		i := slices.Index(p.logs, from)
		for _, l := range p.logs[i:] {
			last = max(last, l.Last)
			if err := l.SetAside(); err != nil {
				return err
			}
		}
		p.logs = p.logs[:i]
	}
	p.lostTo = last
	p.lost = fmt.Sprintf("the machine was lost, or started again, while %s was open without sync: groups of writes %d to %d, the last that were acknowledged, are gone; load again what was loaded last", p.dir, reached+1, last)
	return nil
}
