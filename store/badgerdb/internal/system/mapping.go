package system

import (
	"bufio"
	"bytes"
	"strconv"
	"strings"
)

// Mapping is a file that is mapped.
type Mapping struct {
	from, to uintptr
	File     string
}

// parseMappings reads what Linux says in /proc/self/maps. Lines of other kinds, and of
// files that were removed, are left out.
func parseMappings(text []byte) (list []Mapping) {
	lines := bufio.NewScanner(bytes.NewReader(text))
	for lines.Scan() {
		fields := strings.Fields(lines.Text())
		if len(fields) < 6 || !strings.HasPrefix(fields[5], "/") || strings.HasSuffix(lines.Text(), " (deleted)") {
			continue
		}
		from, to, _ := strings.Cut(fields[0], "-")
		a, aerr := strconv.ParseUint(from, 16, 64)
		b, berr := strconv.ParseUint(to, 16, 64)
		if aerr != nil || berr != nil || a >= b {
			continue
		}
		file := lines.Text()[strings.IndexByte(lines.Text(), '/'):] // no earlier field has a slash
		list = append(list, Mapping{from: uintptr(a), to: uintptr(b), File: file})
	}
	return list
}
