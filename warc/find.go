package warc

import (
	"bytes"
	"errors"
	"fmt"
)

// byteOrderMark is what some editors write at the beginning of a text file. Files may be joined.
const byteOrderMark = "\xef\xbb\xbf"

// findRecord moves the window to the next version line. It skips empty lines and byte order
// marks, and reports anything else once for the whole stretch. If it is uncertain that a record
// begins there, the header must be plausible.
func (r *Reader) findRecord() error {
	junk := int64(-1) // offset at which junk began
	for {
		if !r.win.fill(5) && len(r.win.ahead()) == 0 {
			err := r.win.err
			if errors.Is(err, errDamaged) || errors.Is(err, errGap) {
				r.win.resume()
				continue
			}
			r.reportJunk(junk)
			return err
		}
		b := r.win.ahead()
		if b[0] == '\n' || b[0] == '\r' {
			r.win.advance(1)
			continue
		}
		if bytes.HasPrefix(b, []byte(byteOrderMark)) {
			r.win.advance(len(byteOrderMark))
			continue
		}
		if !r.lost && junk < 0 && r.endPlain() {
			continue
		}
		unsure := r.lost || junk >= 0
		if hasVersion(b) && (!unsure || r.plausible()) {
			r.reportJunk(junk)
			r.lost = false
			return nil
		}
		if junk < 0 {
			junk = r.win.pos()
			r.other = ""
			if junk == 0 {
				r.other = otherFormat(b)
			}
		}
		r.scan()
	}
}

// endPlain continues with compressed members if one begins here, after a record of a plain file.
func (r *Reader) endPlain() bool {
	ahead := r.win.ahead()
	if kind := sniff(ahead); !r.stream.isPlain() || kind != kindGzip && kind != kindZstd {
		return false
	}
	r.stream.endPlain(ahead)
	r.win.giveBack()
	return true
}

// mandatory are the fields that every record has (WARC 1.1 section 5).
var mandatory = []string{"WARC-Type", "WARC-Record-ID", "WARC-Date", "Content-Length"}

// plausible reports whether a record header is ahead that lacks at most one of the mandatory
// fields. If it begins within a line, as after a record that was cut off, it must have all of them, and the
// data must be plain: a corrupt member repeats parts of earlier headers anywhere. After many headers that
// lack more, plausible accepts only short ones.
func (r *Reader) plausible() bool {
	mayLack := 1
	if !r.beginsLine() {
		if _, inner := r.stream.at(r.win.pos()); inner >= 0 {
			return false
		}
		mayLack = 0
	}
	r.win.fill(16)
	if !isVersionLine(r.win.ahead()) {
		return false
	}
	limit := maxHeader
	if r.credit < 0 {
		limit = 4 << 10
	}
	n, err := r.readHeader(limit)
	if err != nil {
		return false
	}
	missing := 0
	for _, name := range mandatory {
		if r.rec.Fields.Get(name) == "" {
			missing++
		}
	}
	if missing <= mayLack {
		return true
	}
	r.credit -= int64(n)
	return false
}

// scan moves the window to the next version line, or to the next break, or to the end of the
// available data.
func (r *Reader) scan() {
	r.win.advance(1)
	for {
		b := r.win.ahead()
		for i := 0; ; {
			k := bytes.IndexByte(b[i:], '/')
			if k < 0 {
				break
			}
			i += k + 1
			if line := i - len(version); line >= 0 && isVersionLine(b[line:]) {
				r.win.advance(line)
				return
			}
		}
		const keep = 16 // these may begin a version line
		r.win.advance(max(len(b)-keep, 0))
		if !r.win.fill(len(r.win.ahead()) + 1) {
			r.win.advance(len(r.win.ahead()))
			return
		}
	}
}

// beginsLine reports whether the next byte is the first of a line or a member.
func (r *Reader) beginsLine() bool {
	// The previous byte is still in the window: scan has just passed it.
	if at := r.win.r; at > 0 && r.win.buf[at-1] == '\n' {
		return true
	}
	return r.stream.nextMark(r.win.pos()-1) == r.win.pos()
}

// reportJunk reports that data from an offset up to here was skipped, unless its cause has
// been reported.
func (r *Reader) reportJunk(from int64) {
	if from < 0 || r.lost {
		return
	}
	n := r.win.pos() - from
	offset, inner := r.stream.at(from)
	reason := fmt.Sprintf("%d bytes where a record should begin: skipped", n)
	if r.other != "" {
		reason = r.other
	}
	r.problems.add(Problem{Offset: offset, Inner: inner, Reason: reason})
}

// otherFormat says what a file is that begins with b, and what to do with it.
func otherFormat(b []byte) string {
	switch {
	case bytes.HasPrefix(b, []byte("filed")):
		return "this is an ARC file, the predecessor of WARC, which is not read: convert it to WARC"
	case bytes.HasPrefix(b, []byte("PK\x03\x04")):
		return "this is a ZIP file, of which only .warc.gz files that are stored without compression are read: unpack it"
	}
	return ""
}
