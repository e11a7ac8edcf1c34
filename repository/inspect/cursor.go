package inspect

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"

	"github.com/webindexer/indexer/internal/wire"
	"github.com/webindexer/indexer/page"
	"github.com/webindexer/indexer/schema"
)

// ErrCursor means that a cursor does not come from an inspection of the same URL.
var ErrCursor = errors.New("not a cursor of this URL")

// cursor says where the lists of an inspection were cut: after the last shown entry of
// each. The order of entries never changes, so an entry that stays is shown exactly once,
// whatever is added or removed between inspections.
type cursor struct {
	members  place // after a URL
	outlinks place // after a URL and n links to it
	inlinks  place // after the row of a pair and n of its links
}

// place is a position in a list. The zero value is before the first entry.
type place struct {
	after string
	n     int // how many of the entries at after were shown
	shown int // how many entries precede the position, for people
}

// pass moves on by one entry.
func (p *place) pass(after string) {
	if p.after != after {
		p.after, p.n = after, 0
	}
	p.n++
	p.shown++
}

// places returns the parts of a cursor, in the order of its text.
func (c *cursor) places() []*place { return []*place{&c.members, &c.outlinks, &c.inlinks} }

// maxCursor bounds a cursor, which has three places of at most two URLs each.
const maxCursor = 8 * page.MaxURLLength

// text returns the cursor in the form that users pass back. It begins with a digest of the
// URL and ends with a checksum.
func (c *cursor) text(u page.URL) string {
	b := digestOfURL(u)
	for _, p := range c.places() {
		b = binary.AppendUvarint(b, uint64(len(p.after)))
		b = append(b, p.after...)
		b = binary.AppendUvarint(b, uint64(p.n))
		b = binary.AppendUvarint(b, uint64(p.shown))
	}
	b = binary.BigEndian.AppendUint32(b, crc32.ChecksumIEEE(b))
	return base64.RawURLEncoding.EncodeToString(b)
}

func digestOfURL(u page.URL) []byte {
	sum := sha256.Sum256([]byte(u))
	return sum[:8]
}

// parseCursor returns the inverse of text; "" is the beginning of all lists. The error
// matches ErrCursor.
func parseCursor(u page.URL, text string) (c cursor, err error) {
	if text == "" {
		return c, nil
	}
	b, err := base64.RawURLEncoding.Strict().DecodeString(text)
	if err != nil || len(b) < 12 || len(b) > maxCursor || crc32.ChecksumIEEE(b[:len(b)-4]) != binary.BigEndian.Uint32(b[len(b)-4:]) {
		return c, fmt.Errorf("%w: it is damaged; was it copied completely?", ErrCursor)
	}
	if string(b[:8]) != string(digestOfURL(u)) {
		return c, fmt.Errorf("%w: it belongs to another URL than %s", ErrCursor, u)
	}
	d := wire.NewDecoder(b[8 : len(b)-4])
	for _, p := range c.places() {
		p.after = d.Text()
		for _, n := range []*int{&p.n, &p.shown} {
			v := d.Uint()
			if v > 1<<40 {
				d.Fail()
			}
			*n = int(v)
		}
	}
	if c.inlinks.after != "" {
		_, _, err = schema.ParsePairRow(c.inlinks.after)
	}
	if d.Failed() || len(d.Rest()) > 0 || err != nil {
		return cursor{}, fmt.Errorf("%w: another version of this program wrote it", ErrCursor)
	}
	return c, nil
}
