package warc

import (
	"strings"
	"time"
)

// Record is one record of a file. It and all it refers to is valid until the next
// call of Reader.Next.
type Record struct {
	// Version is what the version line says, "1.0" for "WARC/1.0".
	Version string
	// Type is WARC-Type in lower case.
	Type string
	// ID and TargetURI are WARC-Record-ID and WARC-Target-URI without the angle
	// brackets that WARC/1.0 files put round them.
	ID, TargetURI string
	// Fields is the whole header.
	Fields Fields
	// Length is Content-Length, or -1 if that is not known.
	Length int64
	// Block is the record's content; nil where Damage is not empty.
	Block []byte
	// Damage says why there is no block that could be relied upon: it is cut,
	// fails its checksum, or is over the limit. Empty if all is well.
	Damage string
	// Offset and Inner say where the record is, as Problem's do.
	Offset, Inner int64

	reader *Reader
}

// dateLayouts are the forms of WARC-Date (WARC 1.1 section 5.4 allows less
// precision, as W3C-DTF does). Fractions of seconds need no layout of their own.
var dateLayouts = []string{time.RFC3339, "2006-01-02T15:04Z07:00", "2006-01-02T15Z07:00", "2006-01-02", "2006-01", "2006"}

// Date is WARC-Date in UTC.
func (rec *Record) Date() (time.Time, error) {
	raw := strings.ToUpper(rec.Fields.Get("WARC-Date"))
	var first error
	for _, layout := range dateLayouts {
		t, err := time.Parse(layout, raw)
		if err == nil {
			return t.UTC(), nil
		}
		if first == nil {
			first = err
		}
	}
	return time.Time{}, first
}

// name is what problems call the record.
func (rec *Record) name() string {
	typ := rec.Type
	if typ == "" {
		typ = "record"
	}
	switch {
	case rec.TargetURI != "":
		return typ + " " + abbreviate(rec.TargetURI)
	case rec.ID != "":
		return typ + " " + abbreviate(rec.ID)
	}
	return typ
}

func (rec *Record) problem(reason string) {
	rec.reader.problems.add(Problem{Offset: rec.Offset, Inner: rec.Inner, Record: rec.name(), Reason: reason})
}

// damaged gives the record up: its block will not be used.
func (rec *Record) damaged(reason, next string) {
	rec.Damage, rec.Block = reason, nil
	rec.problem(reason + ": " + next)
}

func trimURI(s string) string {
	if strings.HasPrefix(s, "<") && strings.HasSuffix(s, ">") {
		return s[1 : len(s)-1]
	}
	return s
}

func abbreviate(s string) string {
	const most = 200
	if len(s) <= most {
		return s
	}
	return strings.ToValidUTF8(s[:most], "") + "…"
}
