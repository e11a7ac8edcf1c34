package postings

import (
	"fmt"
	"math"
	"slices"
)

// List has the rows with a token or a phrase, in ascending order, and its positions in each row.
type List struct {
	rows []int64
	at   []uint32 // offset of each row's position list in data
	data []byte   // position lists as FTS5 stores them: length times two, positions
}

// Len returns the number of rows.
func (l *List) Len() int { return len(l.rows) }

// Size returns about how many bytes of memory the list takes.
func (l *List) Size() int { return 8*cap(l.rows) + 4*cap(l.at) + cap(l.data) }

// Rows returns the row ids. The caller must not change them.
func (l *List) Rows() []int64 { return l.rows }

// Columns is a set of columns; column n is bit n.
type Columns uint64

// AllColumns is every column.
const AllColumns Columns = math.MaxUint64

// Weigh returns the sum, over the columns of the i-th row, of the number of occurrences of
// the token or phrase times the column's weight. Columns without a weight do not count.
func (l *List) Weigh(i int, weights []float64) (sum float64) {
	p := l.positions(i)
	column := uint64(0)
	for {
		k, count := 0, 0
		for k < len(p) && p[k] != columnMark {
			for p[k] >= 0x80 && k+1 < len(p) {
				k++
			}
			k++
			count++
		}
		if column < uint64(len(weights)) && count > 0 {
			sum += weights[column] * float64(count)
		}
		if k+1 >= len(p) {
			return sum
		}
		p = p[k+1:]
		var size int
		if column, size = Varint(p); size == 0 {
			return sum
		}
		p = p[size:]
	}
}

// In reports whether the i-th row has the token or phrase in one of these columns.
func (l *List) In(i int, columns Columns) bool {
	p := l.positions(i)
	if len(p) == 0 {
		return false
	}
	if p[0] != columnMark && columns&1 != 0 {
		return true
	}
	for k := 0; k < len(p); {
		if p[k] == columnMark {
			c, n := Varint(p[k+1:])
			if n == 0 {
				return false
			}
			if c < maxColumns && columns&(1<<c) != 0 {
				return true
			}
			k += 1 + n
			continue
		}
		for p[k] >= 0x80 && k+1 < len(p) {
			k++
		}
		k++
	}
	return false
}

// columnMark precedes the number of a column in a list of positions. Positions before the
// first mark are in column 0. A position is stored as the difference from the position
// before it in its column, plus 2.
const columnMark = 1

// positions returns the list of positions of the i-th row.
func (l *List) positions(i int) []byte {
	b := l.data[l.at[i]:]
	size, n := Varint(b) // checked when it was read
	return b[n : n+int(size>>1)]
}

// decode appends the positions of the i-th row, column and offset as one ascending number.
func (l *List) decode(i int, to []uint64) ([]uint64, error) {
	p := positionReader{rest: l.positions(i)}
	for {
		ok, err := p.next()
		if err != nil {
			return nil, l.damaged(i, err)
		}
		if !ok {
			return to, nil
		}
		to = append(to, p.at)
	}
}

func (l *List) damaged(i int, err error) error { return fmt.Errorf("row %d: %w", l.rows[i], err) }

// positionReader reads a list of positions.
type positionReader struct {
	rest  []byte
	at    uint64 // column and offset
	begun bool
}

// next moves to the next position, and reports whether there is one.
func (r *positionReader) next() (bool, error) {
	for len(r.rest) > 0 {
		v, n := Varint(r.rest)
		if n == 0 {
			return false, corrupt("positions")
		}
		r.rest = r.rest[n:]
		if v == columnMark {
			c, n := Varint(r.rest)
			if n == 0 || c >= 1<<31 || c<<32 <= r.at && r.at != 0 {
				return false, corrupt("column of positions")
			}
			r.at = c << 32
			r.rest = r.rest[n:]
			continue
		}
		if v < 2 || v-2 >= 1<<32 || r.at&math.MaxUint32+v-2 > math.MaxUint32 {
			return false, corrupt("position")
		}
		r.at += v - 2
		r.begun = true
		return true, nil
	}
	return false, nil
}

// add appends a row with these positions. Rows are added in ascending order.
func (l *List) add(row int64, positions []uint64) {
	var p []byte
	last := uint64(0)
	for _, at := range positions {
		if at>>32 != last>>32 {
			p = appendVarint(append(p, columnMark), at>>32)
			last = at >> 32 << 32
		}
		p = appendVarint(p, at-last+2)
		last = at
	}
	l.rows, l.at = append(l.rows, row), append(l.at, uint32(len(l.data)))
	l.data = append(appendVarint(l.data, uint64(len(p))<<1), p...)
}

// addDoclist appends the rows of a doclist, which it keeps. whole has the offsets in it of
// row ids that are not differences from the row id before, in ascending order. keep may
// refuse a row; if it is nil, all rows are kept.
func (l *List) addDoclist(doclist []byte, whole []int, keep func(row int64) (bool, error)) error {
	base := len(l.data)
	if size := uint64(base) + uint64(len(doclist)); size > math.MaxUint32 {
		return corrupt("doclists of %d bytes", size)
	}
	if cap(l.data) == 0 {
		l.data = doclist
	} else {
		l.data = append(l.data, doclist...)
	}
	row := int64(0)
	for pos := 0; pos < len(doclist); {
		delta, n := Varint(doclist[pos:])
		first := pos == 0
		if len(whole) > 0 && whole[0] <= pos {
			if whole[0] < pos {
				return corrupt("first row of a page stands within another")
			}
			row, whole, first = 0, whole[1:], true
		}
		next := row + int64(delta)
		if n == 0 || next < row || next == row && !first {
			return corrupt("rows of a doclist are not ascending")
		}
		row = next
		pos += n
		at := pos
		size, n := Varint(doclist[pos:])
		if n == 0 || size&1 != 0 || size>>1 > uint64(len(doclist)-pos-n) {
			return corrupt("positions of row %d", row)
		}
		pos += n + int(size>>1)
		ok := true
		if keep != nil {
			var err error
			if ok, err = keep(row); err != nil {
				return err
			}
		}
		if ok {
			l.rows, l.at = append(l.rows, row), append(l.at, uint32(base+at))
		}
	}
	if len(whole) > 0 {
		return corrupt("first row of a page stands behind its doclist")
	}
	return nil
}

// room is the memory that a list of some doclists needs.
type room struct{ bytes, rows, doclists int }

// add adds a doclist. The number of its rows is an estimate from the first ones.
func (r *room) add(doclist []byte) {
	const sample = 64
	rows, pos := 0, 0
	for ; rows < sample && pos < len(doclist); rows++ {
		_, n := Varint(doclist[pos:])
		size, m := Varint(doclist[pos+n:])
		if n == 0 || m == 0 || size>>1 > uint64(len(doclist)) {
			break // damage that addDoclist reports
		}
		pos += n + m + int(size>>1)
	}
	if pos < len(doclist) {
		rows = (rows + 1) * (len(doclist)/(pos+1) + 1)
	}
	r.bytes, r.rows, r.doclists = r.bytes+len(doclist), r.rows+min(rows, len(doclist)), r.doclists+1
}

// grow makes room. A single doclist is kept without a copy.
func (l *List) grow(r room) {
	if r.doclists > 1 {
		l.data = make([]byte, 0, r.bytes)
	}
	l.rows, l.at = make([]int64, 0, r.rows), make([]uint32, 0, r.rows)
}

// order sorts the rows, which were added segment by segment, or term by term. It unites the
// positions of a row that was added more than once.
func (l *List) order() error {
	for !slices.IsSorted(l.rows) {
		l.mergeRuns()
	}
	for i := 1; i < len(l.rows); i++ {
		if l.rows[i-1] == l.rows[i] {
			return l.unite()
		}
	}
	return nil
}

// mergeRuns merges each pair of neighbouring ascending runs into one. A list of few
// segments, each ascending, is sorted after few calls. Of equal rows, those of the earlier
// run come first.
func (l *List) mergeRuns() {
	rows, at := make([]int64, 0, len(l.rows)), make([]uint32, 0, len(l.at))
	for begin := 0; begin < len(l.rows); {
		middle := l.runEnd(begin)
		end := l.runEnd(middle)
		for i, j := begin, middle; i < middle || j < end; {
			k := j
			if j == end || i < middle && l.rows[i] <= l.rows[j] {
				k = i
				i++
			} else {
				j++
			}
			rows, at = append(rows, l.rows[k]), append(at, l.at[k])
		}
		begin = end
	}
	l.rows, l.at = rows, at
}

// runEnd returns the end of the ascending run that begins at i.
func (l *List) runEnd(i int) int {
	for i++; i < len(l.rows) && l.rows[i-1] <= l.rows[i]; i++ {
	}
	return min(i, len(l.rows))
}

// unite makes one row of rows with the same id.
func (l *List) unite() error {
	var out List
	var all []uint64
	for i := 0; i < len(l.rows); {
		row := l.rows[i]
		all = all[:0]
		for ; i < len(l.rows) && l.rows[i] == row; i++ {
			var err error
			if all, err = l.decode(i, all); err != nil {
				return err
			}
		}
		slices.Sort(all)
		out.add(row, slices.Compact(all))
	}
	*l = out
	return nil
}
