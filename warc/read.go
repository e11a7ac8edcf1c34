package warc

import (
	"errors"
	"fmt"
	"io"
)

// tailLook is how many bytes of line ends after a block are looked at.
const tailLook = 64

// readRecord reads the record that begins at the window's position. It returns no
// record where there is nothing worth returning, which it has reported.
//
// Afterwards either r.used bytes are the record's, or the window stands after the
// header and r.lost is set: then the length cannot be true, or the block is cut,
// and further records are looked for within what was taken for the block.
func (r *Reader) readRecord() bool {
	n, err := r.readHeader(maxHeader)
	rec := &r.rec
	if err != nil {
		rec.problem(err.Error() + ": skipped to the next record")
		r.win.advance(len("WARC/"))
		r.lost = true
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

// giveUp consumes the header of n bytes alone and has records looked for from
// there on.
func (r *Reader) giveUp(n int) {
	r.win.advance(n)
	r.lost = true
}

// readBlock takes the block of length bytes that follows a header of n bytes, and
// makes sure that it is one.
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
		rec.damaged(reason, "looked for records in what is there")
		r.retry(n, len(r.win.ahead()))
		return
	}
	newlines, after := r.tail(end)
	rec.Block = r.win.ahead()[n:end:end]
	wrong, proved := r.checkDigests()
	switch {
	case after == tailDamaged && !proved:
		rec.damaged("the block is part of damaged data", "not used")
	case after == tailJunk && newlines < 2 && !proved:
		rec.damaged(fmt.Sprintf("Content-Length %d does not lead to the end of a record", length), "skipped to the next record")
		r.retry(n, end)
		return
	case wrong != "":
		rec.problem(wrong + ": used all the same")
	case newlines < 2:
		rec.problem("the two empty lines after the block are missing: the block is used")
	}
	r.used = end
}

// retry has the bytes of a block of the wrong length searched for records, unless
// too much was searched already: else a file of small records that each claim a
// large block would take quadratic time.
func (r *Reader) retry(n, end int) {
	r.credit -= int64(end - n)
	if r.credit < 0 {
		n = end
	}
	r.giveUp(n)
}

// recordWithin says whether a member that begins before end bytes ahead begins
// with a version line. A record may run on across members, but what begins a
// member with a version line is a record.
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

// What follows a block and its line ends.
type tailKind uint8

const (
	tailRecord  tailKind = iota // a record, or the end of the file, or a gap after a good member
	tailJunk                    // something else
	tailDamaged                 // the member of the block fails before its end
)

// tail counts the line ends that follow the block, which ends end bytes ahead, and
// says what comes after them. It reads on to the end of the member, and so has the
// checksum verified of a member that ends with the record.
func (r *Reader) tail(end int) (newlines int, after tailKind) {
	for i := end; i < end+tailLook; i++ {
		if newlines >= 2 && r.isComplete(i) {
			return newlines, tailRecord
		}
		if !r.win.fill(i + 1) {
			// It may be a later member that fails, which is none of this record's.
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

// isComplete reports whether nothing that is still to come has to do with a record
// whose empty lines end i bytes ahead, where what has come so far ends, too.
//
// It matters for pipes: what comes next may come much later, and must not keep the
// record waiting. So nothing is read there that does not belong to the record. Its
// member does, up to the checksum at its end. Only where the member had other records
// before, and nothing more of it has come, it is one of many that a program has flushed:
// its end may be hours away.
//
// Where the source can seek, reading on costs nothing, and tells more of damaged files.
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

// skipLong passes over a block that is over the limit, up to its end or to a
// member that begins with a record.
func (r *Reader) skipLong(n int) {
	rec := &r.rec
	rec.damaged(fmt.Sprintf("block of %d bytes is over the limit of %d", rec.Length, r.opts.MaxBody), "passed over")
	r.win.advance(n)
	for left := rec.Length; left > 0; {
		r.win.fill(int(min(left, 16)))
		b := r.win.ahead()
		if len(b) == 0 {
			rec.problem(fmt.Sprintf("the block ends %d bytes early", left))
			return
		}
		pos := r.win.pos()
		r.stream.at(pos - 1) // forgets the marks before
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
