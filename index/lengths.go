package index

import (
	"bytes"
	"context"
	"database/sql"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"github.com/webindexer/indexer/index/postings"
)

// The number of tokens of a document, in all columns, is needed for every match of a query.
// FTS5 keeps it in a row per document (fts_docsize), and reading that row would be most of
// the cost of a match. So this table has it again, for lengthBlock documents per row,
// written in the transaction of the documents. Two bytes per document would be too few, and
// four are simpler than varints.
const lengthsSQL = `
CREATE TABLE lengths(block INTEGER PRIMARY KEY, tokens BLOB NOT NULL); -- 4 bytes, little-endian, for each document from block*512
`

const (
	lengthBlock = 512
	lengthSize  = 4
)

// lengthBlocks has rows of the table lengths.
type lengthBlocks map[int64][]byte

func (b lengthBlocks) get(id int64) uint32 {
	return lengthIn(b[id/lengthBlock], id)
}

// lengthIn returns the length of a document of a block.
func lengthIn(block []byte, id int64) uint32 {
	at := int(id % lengthBlock * lengthSize)
	if at+lengthSize > len(block) {
		return 0
	}
	return binary.LittleEndian.Uint32(block[at:])
}

func (b lengthBlocks) set(id int64, tokens uint32) {
	block := b[id/lengthBlock]
	at := int(id % lengthBlock * lengthSize)
	if missing := at + lengthSize - len(block); missing > 0 {
		block = append(block, make([]byte, missing)...)
	}
	binary.LittleEndian.PutUint32(block[at:], tokens)
	b[id/lengthBlock] = block
}

// lengths returns the lengths of documents, whose ids must ascend. It reads the blocks
// that are not in the cache.
func (v *View) lengths(ctx context.Context, ids []int64) ([]uint32, error) {
	b := make(lengthBlocks)
	var missing []int64
	last := int64(-1)
	for _, id := range ids {
		if block := id / lengthBlock; block != last {
			last = block
			if tokens, known := v.cache.lengths.Get(block); known {
				b[block] = tokens
			} else {
				missing = append(missing, block)
			}
		}
	}
	if err := b.read(ctx, v, missing); err != nil {
		return nil, err
	}
	for _, block := range missing {
		v.cache.lengths.Add(block, b[block], cacheEntry+len(b[block]))
	}
	out := make([]uint32, len(ids))
	last = -1
	var tokens []byte
	for i, id := range ids {
		if block := id / lengthBlock; block != last {
			last, tokens = block, b[block]
		}
		out[i] = lengthIn(tokens, id)
	}
	return out, nil
}

const selectLengths = "SELECT l.block, l.tokens FROM json_each(?) j CROSS JOIN lengths l ON l.block=j.value"

func (b lengthBlocks) read(ctx context.Context, v *View, blocks []int64) error {
	if len(blocks) == 0 {
		return nil
	}
	list, err := json.Marshal(blocks)
	if err != nil {
		return err
	}
	return b.scan(v.query(ctx, selectLengths, string(list)))
}

// scan scans rows of the table.
func (b lengthBlocks) scan(rows *sql.Rows, err error) error {
	return eachRow(rows, err, func() error {
		var block int64
		var tokens []byte
		err := rows.Scan(&block, &tokens)
		b[block] = tokens
		return err
	})
}

// flushLengths writes the lengths of documents whose full-text entries the transaction
// changes.
func (t *tables) flushLengths() error {
	blocks := make(lengthBlocks)
	for _, id := range slices.Sorted(maps.Keys(t.fullText)) {
		block := id / lengthBlock
		if blocks[block] == nil {
			var stored []byte
			if _, err := t.row("SELECT tokens FROM lengths WHERE block=?", []any{block}, &stored); err != nil {
				return err
			}
			blocks[block] = stored
		}
		n := uint32(0)
		if c := t.fullText[id]; c != nil {
			n = c.Tokens()
		}
		blocks.set(id, n)
	}
	for _, block := range slices.Sorted(maps.Keys(blocks)) {
		var err error
		if len(bytes.Trim(blocks[block], "\x00")) == 0 { // ids are not used again, so these rows would become many
			err = t.exec("DELETE FROM lengths WHERE block=?", block)
		} else {
			err = t.exec("INSERT OR REPLACE INTO lengths(block, tokens) VALUES(?,?)", block, blocks[block])
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// storedLengths returns the lengths of all documents as FTS5 has them. FTS5 stores a
// variable-length integer for each column.
func storedLengths(ctx context.Context, q querier) (lengthBlocks, error) {
	blocks := make(lengthBlocks)
	rows, err := q.QueryContext(ctx, "SELECT id, sz FROM fts_docsize ORDER BY id")
	err = eachRow(rows, err, func() error {
		var id int64
		var sizes sql.RawBytes
		if err := rows.Scan(&id, &sizes); err != nil {
			return err
		}
		sum := uint64(0)
		for len(sizes) > 0 {
			v, n := postings.Varint(sizes)
			if n == 0 {
				return fmt.Errorf("%w: size of document %d", ErrCorrupt, id)
			}
			sum, sizes = sum+v, sizes[n:]
		}
		blocks.set(id, uint32(sum))
		return nil
	})
	return blocks, err
}

// checkLengths compares the table with what FTS5 has, and returns the number of documents
// that differ.
func (v *View) checkLengths(ctx context.Context) (wrong int, err error) {
	want, err := storedLengths(ctx, v.tx)
	if err != nil {
		return 0, err
	}
	have := make(lengthBlocks)
	if err := have.scan(v.tx.QueryContext(ctx, "SELECT block, tokens FROM lengths")); err != nil {
		return 0, err
	}
	all := maps.Clone(want)
	maps.Copy(all, have)
	for block := range all {
		for id := block * lengthBlock; id < (block+1)*lengthBlock; id++ {
			if want.get(id) != have.get(id) {
				wrong++
			}
		}
	}
	return wrong, nil
}
