package pdf

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"
)

// TestAbandoned: a child whose parent ends in the middle of a document ends as well.
func TestAbandoned(t *testing.T) {
	parent, toChild := io.Pipe()
	fromChild, answers := io.Pipe()
	began, end := make(chan struct{}), make(chan struct{})
	served := make(chan error)
	go func() {
		served <- serve(parent, answers, func([]byte) ([]byte, error) {
			close(began)
			<-end // a document that takes for ever
			return nil, errors.New("late")
		})
	}()
	if k, _, err := readMessage(fromChild, 0); k != kindReady || err != nil {
		t.Fatal(k, err)
	}
	if err := writeMessage(toChild, kindDocument, []byte("endless")); err != nil {
		t.Fatal(err)
	}
	<-began
	if err := toChild.Close(); err != nil {
		t.Fatal(err)
	}
	if err := <-served; err != nil {
		t.Error(err)
	}
	if err := fromChild.Close(); err != nil {
		t.Error(err)
	}
	close(end)
}

// TestServeNonsense: a child refuses what is not a document.
func TestServeNonsense(t *testing.T) {
	for _, in := range []string{"x\x00\x00\x00\x00", "d\xff\xff\xff\xff", "d\x00\x00\x00\x05abc", "d\x00"} {
		var out bytes.Buffer
		if err := serve(strings.NewReader(in), &out, act); err == nil {
			t.Errorf("%q was accepted", in)
		}
		if out.String() != "r\x00\x00\x00\x00" {
			t.Errorf("%q: %q", in, out.String())
		}
	}
}

// FuzzMessage: whatever comes, reading a message fails or returns what was written, within its
// limit.
func FuzzMessage(f *testing.F) {
	f.Add([]byte("h\x00\x00\x00\x03abc"), 10)
	f.Add([]byte("d\xff\xff\xff\xffabc"), 1<<20)
	f.Fuzz(func(t *testing.T, b []byte, limit int) {
		k, data, err := readMessage(bytes.NewReader(b), limit)
		if err != nil {
			return
		}
		if len(data) > limit {
			t.Errorf("%d bytes, limit %d", len(data), limit)
		}
		var again bytes.Buffer
		if err := writeMessage(&again, k, data); err != nil {
			t.Fatal(err)
		}
		if !bytes.HasPrefix(b, again.Bytes()) {
			t.Errorf("%q was read as %q", b, again.Bytes())
		}
	})
}
