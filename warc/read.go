package warc

import (
	"errors"
	"fmt"
	"io"
)

// tailLook is how many bytes of newlines after a block are examined.
const tailLook = 64

// readRecord reads the record at the window's position. If the record is unusable, it
// reports that and returns none.
//
// Afterwards, either r.used bytes belong to the record, or the window is after the header
// and r.lost is set: then the length is wrong or the block is cut off, and the search for
// further records continues within the supposed block.
func (r *Reader) readRecord() bool {
	n, err := r.readHeader(maxHeader)
	rec := &r.rec
	if err != nil {
		rec.problem(err.Error() + ": skipped to the next record")
		r.win.advance(len("WARC/"))
		r.lost = true
		return false
	}
	if at := lastHeader(r.win.ahead()[:n]); at > 0 {
		rec.problem(errHeaderCut.Error() + ": went on at the record that begins within it")
		r.win.advance(at)
		return false
	}
	r.checkHeader()
	rec.Length, err = contentLength(rec.Fields)
	if err == nil && rec.Inner < 0 && r.src.size >= 0 && rec.Length > r.src.size-rec.Offset {
		err = fmt.Errorf("Content-Length %d runs past the end of the file", rec.Length)
	}
	if err != nil {
		rec.damaged(err.Error(), "skipped to the next record")
		r.giveUp(n)
		return true
	}
	if rec.Length > r.opts.MaxBody+maxHeader {
		r.skipLong(n)
		return true
	}
	r.readBlock(n, int(rec.Length))
	return true
}

// giveUp consumes only the header of n bytes, so that the search for records continues
// after it.
func (r *Reader) giveUp(n int) {
	r.win.advance(n)
	r.lost = true
}

// readBlock takes the block of length bytes after a header of n bytes, and checks that it
// really is one.
func (r *Reader) readBlock(n, length int) {
	rec := &r.rec
	end := n + length
	whole := r.win.fill(end)
	if r.recordWithin(end) {
		rec.damaged(fmt.Sprintf("Content-Length %d is too long: a record begins within", length), "went on there")
		r.retry(n, end)
		return
	}
	if !whole {
		reason := "the block is cut off by damage"
		if errors.Is(r.win.err, io.EOF) {
			reason = "the block is cut off by the end of the file"
		}
		rec.damaged(reason, "searched it for records")
		r.retry(n, len(r.win.ahead()))
		return
	}
	newlines, after := r.tail(end)
	rec.Block = r.win.ahead()[n:end:end]
	wrong, proved := r.checkDigests()
	switch {
	case after == tailDamaged && !proved:
		rec.damaged("the block is part of damaged data", "not used")
	case after == tailJunk && !proved && (newlines < 2 || hasVersionLine(rec.Block)):
		rec.damaged(fmt.Sprintf("Content-Length %d does not lead to the end of a record", length), "skipped to the next record")
		r.retry(n, end)
		return
	case wrong != "":
		rec.problem(wrong + ": used anyway")
	case newlines < 2:
		rec.problem("the two empty lines after the block are missing: the block is used")
	}
	r.used = end
}

// retry lets the bytes of a block with a wrong length be searched for records, unless too
// much has been searched already: otherwise, a file of small records that each claim a
// large block would take quadratic time.
func (r *Reader) retry(n, end int) {
	r.credit -= int64(end - n)
	if r.credit < 0 {
		n = end
	}
	r.giveUp(n)
}

// recordWithin reports whether a member that begins within the next end bytes begins with a
// version line. A record may span members, but a member that begins with a version line
// begins a record.
func (r *Reader) recordWithin(end int) bool {
	from := r.win.pos()
	for _, m := range r.stream.marks {
		i := m.out - from
		if i <= 0 {
			continue
		}
		if i >= int64(end) {
			break
		}
		b := r.win.ahead()
		if i < int64(len(b)) && isVersionLine(b[i:min(i+16, int64(len(b)))]) {
			return true
		}
	}
	return false
}

// What follows a block and its newlines.
type tailKind uint8

const (
	tailRecord  tailKind = iota // a record, or the end of the file, or a gap after a good member
	tailJunk                    // something else
	tailDamaged                 // the member of the block fails before its end
)

// tail counts the newlines after the block, which ends end bytes ahead, and returns what
// follows them. It reads to the end of the member, which verifies the checksum of a member
// that ends with the record.
func (r *Reader) tail(end int) (newlines int, after tailKind) {
	for i := end; i < end+tailLook; i++ {
		if newlines >= 2 && r.isComplete(i) {
			return newlines, tailRecord
		}
		if !r.win.fill(i + 1) {
			// The failure may be in a later member, which does not belong to this record.
			if errors.Is(r.win.err, errDamaged) && r.stream.failed < r.win.pos()+int64(end) {
				return newlines, tailDamaged
			}
			return newlines, tailRecord
		}
		switch r.win.ahead()[i] {
		case '\n':
			newlines++
			continue
		case '\r':
			continue
		}
		r.win.fill(i + 5)
		if hasVersion(r.win.ahead()[i:]) {
			return newlines, tailRecord
		}
		return newlines, tailJunk
	}
	return newlines, tailRecord
}

// isComplete reports whether the record whose empty lines end i bytes ahead is
// complete. The data received so far also ends there.
//
// This matters for pipes: the next data may arrive much later, and must not delay the
// record. So on a pipe, nothing is read that does not belong to the record. The rest of its
// member does belong to it, up to the checksum at the end. The exception is a member that
// had earlier records and of which nothing more has arrived: then a program flushes records
// into one long member, whose end may be hours away.
//
// If the source can seek, reading on costs nothing and reveals more about damaged files.
func (r *Reader) isComplete(i int) bool {
	if r.src.seeker != nil || len(r.win.ahead()) > i || r.win.err != nil || r.stream.pending != nil {
		return false
	}
	switch {
	case r.stream.kind == kindNone, r.stream.kind == kindPlain:
		return true
	case r.stream.began < r.win.pos() && r.src.br.Buffered() == 0:
		return true
	}
	r.stream.hold = true
	defer func() { r.stream.hold = false }()
	if r.win.fill(i+1) || !errors.Is(r.win.err, errMemberEnd) {
		return false
	}
	r.win.resume()
	return true
}

// skipLong skips a block over the limit, up to its end or to a member that begins with a
// record.
func (r *Reader) skipLong(n int) {
	rec := &r.rec
	rec.damaged(fmt.Sprintf("block of %d bytes is over the limit of %d", rec.Length, r.opts.MaxBody), "skipped")
	r.win.advance(n)
	for left := rec.Length; left > 0; {
		r.win.fill(int(min(left, 16)))
		b := r.win.ahead()
		if len(b) == 0 {
			rec.problem(fmt.Sprintf("the block ends %d bytes early", left))
			return
		}
		pos := r.win.pos()
		r.stream.at(pos - 1) // drops earlier marks
		if left < rec.Length && r.stream.nextMark(pos-1) == pos && isVersionLine(b) {
			rec.problem(fmt.Sprintf("a record begins %d bytes before the end of the block: went on there", left))
			return
		}
		step := min(left, int64(len(b)))
		if mark := r.stream.nextMark(pos) - pos; mark > 0 {
			step = min(step, mark)
		}
		r.win.advance(int(step))
		left -= step
	}
}
