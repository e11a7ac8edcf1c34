package trace

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"io/fs"
	"os"
)

// The file has a magic number and then samples, oldest first:
//
//	[time, 8 bytes][timestamp, 8 bytes][CRC-32C of both, 4 bytes]   big-endian
//
// It ends before the first sample that is incomplete, does not ascend, or fails its
// checksum. Opening the file truncates it there, which removes what a crash left half
// written. The file is not synced: after a power failure, the last seconds have no times.
const clockMagic = "ixclock\x01"

const sampleBytes = 20

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

type clockFile struct {
	path string
	f    *os.File // nil after close
}

func openClockFile(path string) (*clockFile, []clockSample, error) {
	b, err := os.ReadFile(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, nil, fmt.Errorf("read the samples of the clock: %w", err)
	}
	samples := decodeClock(b)
	c := &clockFile{path: path}
	if len(samples) == 0 {
		return c, nil, c.replace(nil)
	}
	if c.f, err = os.OpenFile(path, os.O_WRONLY, 0o666); err != nil {
		return nil, nil, fmt.Errorf("open the samples of the clock: %w", err)
	}
	end := int64(len(clockMagic) + len(samples)*sampleBytes)
	if err := c.f.Truncate(end); err != nil {
		return nil, nil, errors.Join(fmt.Errorf("truncate the samples of the clock: %w", err), c.close())
	}
	if _, err := c.f.Seek(end, io.SeekStart); err != nil {
		return nil, nil, errors.Join(fmt.Errorf("append to the samples of the clock: %w", err), c.close())
	}
	return c, samples, nil
}

// decodeClock reads the valid samples at the beginning of the file.
func decodeClock(b []byte) (samples []clockSample) {
	b, ok := bytes.CutPrefix(b, []byte(clockMagic))
	if !ok {
		return nil
	}
	for ; len(b) >= sampleBytes; b = b[sampleBytes:] {
		s := clockSample{int64(binary.BigEndian.Uint64(b)), binary.BigEndian.Uint64(b[8:])}
		if crc32.Checksum(b[:16], castagnoli) != binary.BigEndian.Uint32(b[16:]) {
			break
		}
		if n := len(samples); n > 0 && (s.wall <= samples[n-1].wall || s.ts < samples[n-1].ts) {
			break
		}
		samples = append(samples, s)
	}
	return samples
}

func encodeClock(b []byte, samples []clockSample) []byte {
	for _, s := range samples {
		from := len(b)
		b = binary.BigEndian.AppendUint64(b, uint64(s.wall))
		b = binary.BigEndian.AppendUint64(b, s.ts)
		b = binary.BigEndian.AppendUint32(b, crc32.Checksum(b[from:], castagnoli))
	}
	return b
}

// append appends samples. After an error it writes nothing more: an incomplete sample may
// be at the end, and reading would stop there.
func (c *clockFile) append(samples []clockSample) error {
	if c == nil || c.f == nil {
		return nil
	}
	if _, err := c.f.Write(encodeClock(nil, samples)); err != nil {
		return errors.Join(fmt.Errorf("append a sample of the clock; no more will be recorded: %w", err), c.close())
	}
	return nil
}

// replace atomically replaces the file.
func (c *clockFile) replace(samples []clockSample) (err error) {
	if c == nil {
		return nil
	}
	fresh := c.path + ".new"
	f, err := os.OpenFile(fresh, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o666)
	if err != nil {
		return fmt.Errorf("create a file of samples of the clock: %w", err)
	}
	if _, err = f.Write(encodeClock([]byte(clockMagic), samples)); err == nil {
		err = os.Rename(fresh, c.path)
	}
	if err != nil {
		return fmt.Errorf("write the samples of the clock: %w", errors.Join(err, f.Close(), os.Remove(fresh)))
	}
	old := c.f
	c.f = f
	if old == nil {
		return nil
	}
	return old.Close()
}

func (c *clockFile) close() error {
	if c == nil || c.f == nil {
		return nil
	}
	f := c.f
	c.f = nil
	if err := f.Close(); err != nil {
		return fmt.Errorf("close the samples of the clock: %w", err)
	}
	return nil
}
