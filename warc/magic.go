package warc

import (
	"bytes"
	"io"
	"strings"
	"sync"

	"github.com/klauspost/compress/gzip"
)

// memberKind says how a stretch of the file is stored.
type memberKind uint8

const (
	kindNone memberKind = iota
	kindGzip
	kindZstd
	kindSkippable // a zstd skippable frame
	kindPlain
)

// zstdMagic begins a zstd frame.
const zstdMagic = "\x28\xb5\x2f\xfd"

// sniff returns the kind of member that begins with b, kindNone if unknown.
func sniff(b []byte) memberKind {
	switch {
	case isGzip(b):
		return kindGzip
	case bytes.HasPrefix(b, []byte(zstdMagic)):
		return kindZstd
	case len(b) >= 4 && b[0]&0xf0 == 0x50 && b[1] == 0x2a && b[2] == 0x4d && b[3] == 0x18:
		return kindSkippable
	case hasVersion(b):
		return kindPlain
	}
	return kindNone
}

// isGzip checks the magic number, the only compression method, and the reserved flags (RFC
// 1952 section 2.3.1): 27 bits of 32, so that compressed data rarely looks like a member.
func isGzip(b []byte) bool {
	return len(b) >= 4 && b[0] == 0x1f && b[1] == 0x8b && b[2] == 8 && b[3]&0xe0 == 0
}

// inflaters are readers for beginsRecord, which damage can make try every fourth byte. A reader takes
// 40 KiB.
var inflaters = sync.Pool{New: func() any { return new(gzip.Reader) }}

// beginsRecord reports whether b, the beginning of a gzip member, inflates to a record. It
// is used only to find a place to continue after damage.
func beginsRecord(b []byte) bool {
	z := inflaters.Get().(*gzip.Reader)
	defer inflaters.Put(z)
	if z.Reset(bytes.NewReader(b)) != nil {
		return false
	}
	z.Multistream(false)
	var first [5]byte
	n, _ := io.ReadFull(z, first[:])
	return hasVersion(first[:n])
}

// nextMember returns the first place in b where a member begins that is unlikely to be a
// coincidence: a gzip member with a record, a zstd frame, or a plain version line. It
// returns -1 if there is none.
func nextMember(b []byte) (int, memberKind) {
	for i, c := range b {
		var kind memberKind
		switch c {
		case 0x1f, 0x28:
			kind = sniff(b[i:])
		case 'W', 'w':
			if isVersionLine(b[i:]) && (i == 0 || b[i-1] == '\n' || b[i-1] == 0) {
				return i, kindPlain
			}
		}
		if kind == kindZstd || kind == kindGzip && beginsRecord(b[i:]) {
			return i, kind
		}
	}
	return -1, kindNone
}

const version = "WARC/"

// hasVersion reports whether b begins with "WARC/", ignoring case, because the JHOVE corpus
// has lower-case version lines.
func hasVersion(b []byte) bool {
	return len(b) >= len(version) && b[4] == '/' && strings.EqualFold(string(b[:4]), version[:4])
}

// isVersionLine reports whether b begins with "WARC/", digits and dots, and a newline.
func isVersionLine(b []byte) bool {
	if !hasVersion(b) {
		return false
	}
	for i, c := range b[len(version):] {
		switch {
		case c == '\n' || c == '\r':
			return i >= 3
		case i > 8 || c != '.' && (c < '0' || c > '9'):
			return false
		}
	}
	return false
}

// hasVersionLine reports whether a record may begin in b.
func hasVersionLine(b []byte) bool {
	for i, c := range b {
		if c == '/' && i >= len(version)-1 && isVersionLine(b[i+1-len(version):]) {
			return true
		}
	}
	return false
}
