package warc

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

var (
	errHeaderTooLong = fmt.Errorf("record header is over the limit of %d bytes", maxHeader)
	errHeaderCut     = errors.New("record header is cut off")
)

// readHeader parses the header at the window's position into r.rec without consuming it,
// and returns its length in bytes. It never searches the same bytes twice for the end of a
// header, however many headers begin before them.
func (r *Reader) readHeader(limit int) (int, error) {
	pos := r.win.pos()
	r.rec = Record{reader: r, Length: -1}
	r.rec.Offset, r.rec.Inner = r.stream.at(pos)
	n := -1
	for n < 0 {
		b := r.win.ahead()
		b = b[:min(len(b), limit)]
		n = headerEnd(b, int(min(max(r.noEnd-pos, 0), int64(len(b)))))
		if n < 0 {
			r.noEnd = max(r.noEnd, pos+int64(len(b)))
		}
		switch {
		case n >= 0:
		case len(b) >= limit:
			return 0, errHeaderTooLong
		case !r.win.fill(len(b) + 1):
			return 0, errHeaderCut
		}
	}
	r.parseHeader(string(r.win.ahead()[:n]))
	return n, nil
}

// lastHeader returns where the last header begins in text, the beginning of a record up to an empty
// line; 0 if there is only one. The headers before it are cut off, as by a crawler that was killed and
// then continued the file. A header begins a line, or, after a cut within a line, its fields repeat
// one that no header has twice.
func lastHeader(text []byte) int {
	most := 8 // comparisons, each of which takes as long as the text
	for end := len(text); most > 0; {
		end = bytes.LastIndexByte(text[:end], '/')
		at := end + 1 - len(version)
		switch {
		case at <= 0:
			return 0
		case !isVersionLine(text[at:]):
			continue
		case text[at-1] == '\n':
			return at
		}
		if most--; haveBoth(string(text[:at]), string(text[at:])) {
			return at
		}
	}
	return 0
}

// haveBoth reports whether both parts of a header have the same mandatory field.
func haveBoth(first, second string) bool {
	a, b := parseFields(nil, first), parseFields(nil, second)
	return slices.ContainsFunc(mandatory, func(name string) bool { return a.has(name) && b.has(name) })
}

func (r *Reader) parseHeader(text string) {
	rec := &r.rec
	line, rest, _ := strings.Cut(text, "\n")
	rec.Version = strings.TrimSpace(line[len(version):])
	r.fields = parseFields(r.fields[:0], rest)
	rec.Fields = r.fields
	rec.Type = strings.ToLower(rec.Fields.Get("WARC-Type"))
	rec.ID = trimURI(rec.Fields.Get("WARC-Record-ID"))
	rec.TargetURI = trimURI(rec.Fields.Get("WARC-Target-URI"))
}

// checkHeader reports oddities in a header that do not prevent reading the record.
func (r *Reader) checkHeader() {
	rec := &r.rec
	switch rec.Version {
	case "1.1", "1.0", "0.18", "0.17":
	default:
		rec.problem(fmt.Sprintf("unknown version %q: read as WARC/1.1", "WARC/"+abbreviate(rec.Version)))
	}
	if rec.Type == "" {
		rec.problem("no WARC-Type: skipped the record")
	}
}

// contentLength returns the block's length. The field may be repeated only with the same
// value.
func contentLength(fs Fields) (int64, error) {
	raw, found := "", false
	for _, f := range fs {
		if !strings.EqualFold(f.Name, "Content-Length") {
			continue
		}
		if found && f.Value != raw {
			return -1, fmt.Errorf("two Content-Lengths, %q and %q", abbreviate(raw), abbreviate(f.Value))
		}
		raw, found = f.Value, true
	}
	if !found {
		return -1, errors.New("no Content-Length")
	}
	n, err := strconv.ParseUint(raw, 10, 63)
	if err != nil {
		return -1, fmt.Errorf("bad Content-Length %q", abbreviate(raw))
	}
	return int64(n), nil
}
