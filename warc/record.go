package warc

import (
	"cmp"
	"fmt"
	"strings"
	"time"
)

// Record is one record of a file. It and everything it refers to are valid until the next
// call of Reader.Next.
type Record struct {
	// Version is the version in the version line, such as "1.0" for "WARC/1.0".
	Version string
	// Type is WARC-Type in lower case.
	Type string
	// ID and TargetURI are WARC-Record-ID and WARC-Target-URI without the angle
	// brackets of WARC/1.0 files.
	ID, TargetURI string
	// Fields is the whole header.
	Fields Fields
	// Length is Content-Length, or -1 if unknown.
	Length int64
	// Block is the record's content; nil if Damage is not empty.
	Block []byte
	// Damage says why there is no reliable block: it is cut off, fails its checksum, or is
	// over the limit. Empty if there is one.
	Damage string
	// Offset and Inner are the place of the record, as in Problem.
	Offset, Inner int64

	reader *Reader
}

// dateLayouts are the forms of WARC-Date (WARC 1.1 section 5.4 allows reduced precision,
// like W3C-DTF). Fractions of seconds do not need a layout of their own. The last form is that of
// ARC files, which WARC 1.0 names when it speaks of a "14-digit UTC timestamp".
var dateLayouts = []string{time.RFC3339, "2006-01-02T15:04Z07:00", "2006-01-02T15Z07:00", "2006-01-02", "2006-01", "2006", "20060102150405"}

// Date returns WARC-Date in UTC.
func (rec *Record) Date() (time.Time, error) {
	raw := rec.Fields.Get("WARC-Date")
	for _, layout := range dateLayouts {
		if t, err := time.Parse(layout, strings.ToUpper(raw)); err == nil {
			return t.UTC(), nil
		}
	}
	return time.Time{}, fmt.Errorf("bad WARC-Date %q", abbreviate(raw))
}

// name returns the name of the record in problems.
func (rec *Record) name() string {
	typ := cmp.Or(rec.Type, "record")
	if id := cmp.Or(rec.TargetURI, rec.ID); id != "" {
		return typ + " " + abbreviate(id)
	}
	return typ
}

func (rec *Record) problem(reason string) {
	rec.reader.problems.add(Problem{Offset: rec.Offset, Inner: rec.Inner, Record: rec.name(), Reason: reason})
}

// damaged drops the record's block and reports why.
func (rec *Record) damaged(reason, next string) {
	rec.Damage, rec.Block = reason, nil
	rec.problem(reason + ": " + next)
}

// trimURI removes the angle brackets around a URI.
func trimURI(s string) string {
	if strings.HasPrefix(s, "<") && strings.HasSuffix(s, ">") {
		return s[1 : len(s)-1]
	}
	return s
}

// abbreviate cuts long text in a message.
func abbreviate(s string) string {
	const most = 200
	if len(s) <= most {
		return s
	}
	return strings.ToValidUTF8(s[:most], "") + "…"
}
