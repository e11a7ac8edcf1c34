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
	// maxFrame bounds a frame's payload, in bytes.
	maxFrame   = 64 << 10
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
}

// writeFrame writes one frame in one Write.
func writeFrame(w io.Writer, kind byte, payload []byte) error {
	if len(payload) > maxFrame {
		return fmt.Errorf("control: a frame has %d bytes; at most %d are allowed", len(payload), maxFrame)
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
	if n > maxFrame {
		return 0, nil, fmt.Errorf("control: a frame has %d bytes; at most %d are allowed", n, maxFrame)
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
