package query

import (
	"encoding/binary"
	"errors"

	"github.com/webindexer/indexer/index/postings"
	"github.com/webindexer/indexer/internal/wire"
)

// maxNested bounds how deeply the expressions in messages are nested. Those of queries are not nested
// half as deeply (maxDepth).
const maxNested = 100

var errMessage = errors.New("query: the expression in a message is malformed, or nested too deeply")

// GobEncode implements gob.GobEncoder. Without it, gob would decode an expression as deeply as a
// message nests it: four mebibytes can exhaust the stack, which ends a process.
func (e *Expr) GobEncode() ([]byte, error) { return e.append(nil), nil }

func (e *Expr) append(b []byte) []byte {
	prefix := byte(0)
	if e.Phrase.Prefix {
		prefix = 1
	}
	b = append(binary.AppendUvarint(b, uint64(e.Op)), prefix)
	b = binary.AppendUvarint(b, uint64(e.In))
	for _, text := range []string{e.Phrase.Tokens, e.Within} {
		b = append(binary.AppendUvarint(b, uint64(len(text))), text...)
	}
	b = binary.AppendUvarint(b, uint64(len(e.Kids)))
	for _, k := range e.Kids {
		b = k.append(b)
	}
	return b
}

// GobDecode implements gob.GobDecoder.
func (e *Expr) GobDecode(b []byte) error {
	d := wire.NewDecoder(b)
	e.read(d, maxNested)
	if d.Failed() || len(d.Rest()) > 0 {
		return errMessage
	}
	return nil
}

func (e *Expr) read(d *wire.Decoder, depth int) {
	e.Op, e.Phrase.Prefix = Op(d.Uint()), d.Byte() == 1
	e.In = postings.Columns(d.Uint())
	e.Phrase.Tokens, e.Within = d.Text(), d.Text()
	kids := d.Uint()
	if kids > 0 && depth == 0 {
		d.Fail()
	}
	for ; kids > 0 && !d.Failed(); kids-- {
		k := new(Expr)
		k.read(d, depth-1)
		e.Kids = append(e.Kids, k)
	}
}
