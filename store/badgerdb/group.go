package badgerdb

// head returns the key of a column without the timestamp.
func (g *group) head(row, column []byte) []byte {
	return appendName(appendRow(nil, g.id, row), column)
}

// key returns the stored key of a cell.
func (g *group) key(row, column []byte, ts uint64) []byte {
	k := g.head(row, column)
	if !g.Latest {
		k = appendTS(k, ts)
	}
	return k
}
