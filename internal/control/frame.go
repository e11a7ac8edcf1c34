package control

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
)

// The kinds of frames.
const (
	frameRequest = 'q'
	frameOutput  = 'o'
	frameError   = 'e'
	frameAlive   = 'a'
	frameExit    = 'x'
	frameRefused = 'r'
)

const (
	version = 2
	// maxFrame bounds a frame's payload, in bytes, and maxRequest that of a request, which may
	// hold all arguments of a command line.
	maxFrame   = 64 << 10
	maxRequest = 4 << 20
	headerSize = 5
)

// Request is a request from one process to another.
type Request struct {
	// Version is the version of the protocol. Ask sets it.
	Version int      `json:"version"`
	Command string   `json:"command"`
	Args    []string `json:"args,omitempty"`
	// Format is the format of the output.
	Format string `json:"format,omitempty"`
	// Store names the database that the request is about; "": that of the process, whichever it is.
	Store string `json:"store,omitempty"`
}

type exit struct {
	Status int `json:"status"`
}

type refusal struct {
	Reason string `json:"reason"`
	Busy   bool   `json:"busy,omitempty"`
}

// checkSize refuses a frame that is too large.
func checkSize(kind byte, size uint64) error {
	most := uint64(maxFrame)
	if kind == frameRequest {
		most = maxRequest
	}
	if size > most {
		return fmt.Errorf("control: a frame has %d bytes; at most %d are allowed", size, most)
	}
	return nil
}

// writeFrame writes one frame in one Write.
func writeFrame(w io.Writer, kind byte, payload []byte) error {
	if err := checkSize(kind, uint64(len(payload))); err != nil {
		return err
	}
	frame := make([]byte, headerSize, headerSize+len(payload))
	frame[0] = kind
	binary.BigEndian.PutUint32(frame[1:], uint32(len(payload)))
	_, err := w.Write(append(frame, payload...))
	return err
}

func writeJSONFrame(w io.Writer, kind byte, v any) error {
	payload, err := json.Marshal(v)
	if err != nil {
		return fmt.Errorf("control: %w", err)
	}
	return writeFrame(w, kind, payload)
}

// readFrame reads one frame. io.EOF means that there are no more.
func readFrame(r io.Reader) (kind byte, payload []byte, err error) {
	var header [headerSize]byte
	if _, err := io.ReadFull(r, header[:]); err != nil {
		return 0, nil, err
	}
	n := binary.BigEndian.Uint32(header[1:])
	if err := checkSize(header[0], uint64(n)); err != nil {
		return 0, nil, err
	}
	payload = make([]byte, n)
	if _, err := io.ReadFull(r, payload); err != nil {
		if err == io.EOF {
			err = io.ErrUnexpectedEOF
		}
		return 0, nil, err
	}
	return header[0], payload, nil
}
