//go:build !386 && !arm && !mips && !mipsle

package system

import (
	"slices"
	"testing"
)

func TestParseMappings(t *testing.T) {
	text := `00400000-0165e000 r-xp 00000000 fe:00 1054    /usr/bin/indexer
c000000000-c004000000 rw-p 00000000 00:00 0
7f2a10000000-7f2a10200000 rw-s 00000000 fe:00 99                   /data/with space/000002.sst
7f2a10200000-7f2a10400000 rw-s 00000000 fe:00 98                   /data/000001.sst (deleted)
7fff0000-7fff1000 rw-p 00000000 00:00 0                            [stack]
7f2a10400000-7f2a10600000 rw-s 00000000 00:31 31                   /data/000004.sst
zzz-7fff1000 rw-s 00000000 fe:00 97 /data/000003.sst
`
	want := []Mapping{
		{0x400000, 0x165e000, "/usr/bin/indexer"},
		{0x7f2a10000000, 0x7f2a10200000, "/data/with space/000002.sst"},
		{0x7f2a10400000, 0x7f2a10600000, "/data/000004.sst"},
	}
	if got := parseMappings([]byte(text)); !slices.Equal(got, want) {
		t.Errorf("%x, want %x", got, want)
	}
}
