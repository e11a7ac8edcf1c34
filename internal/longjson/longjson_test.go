package longjson

import (
	"bytes"
	"encoding/json"
	"errors"
	"testing"

	"github.com/webindexer/indexer/internal/testenv"
)

type parts struct {
	Head   string   `json:"head"`
	Empty  string   `json:"empty,omitempty"`
	First  []string `json:"first"`
	Number float64  `json:"number"`
	Second []pair   `json:"second"`
	Tail   bool     `json:"tail"`
}

type pair struct {
	A string `json:"a"`
	B int    `json:"b"`
}

// Random objects are what encoding/json makes of them, one a line.
func TestAsEncodingJSON(t *testing.T) {
	r := testenv.Random(t)
	word := func() string {
		return []string{"", "a", "<b>&", "\"\\\n\x00", "ü 標\u2028", string([]byte{0xff, 'x'})}[r.IntN(6)]
	}
	var got, want bytes.Buffer
	w, enc := New(&got), json.NewEncoder(&want)
	enc.SetEscapeHTML(false)
	for range 200 {
		p := parts{Head: word(), Number: r.NormFloat64(), Tail: r.IntN(2) == 0, First: []string{}, Second: []pair{}}
		for range r.IntN(4) {
			p.First = append(p.First, word())
		}
		for range r.IntN(3) {
			p.Second = append(p.Second, pair{word(), r.Int()})
		}
		if err := enc.Encode(&p); err != nil {
			t.Fatal(err)
		}
		write(t, w, &p)
	}
	if !bytes.Equal(got.Bytes(), want.Bytes()) {
		t.Errorf("wrote\n%s\nwant\n%s", got.Bytes(), want.Bytes())
	}
}

func write(t *testing.T, w *Writer, p *parts) {
	t.Helper()
	err := errors.Join(
		w.Open(), w.Fields(struct{}{}), w.Fields(map[string]string{"head": p.Head}),
		w.List("first", func(put func(any) error) error { return putAll(p.First, put) }),
		w.Fields(&struct {
			N float64 `json:"number"`
		}{p.Number}),
		w.List("second", func(put func(any) error) error { return putAll(p.Second, put) }),
		w.Fields(&struct {
			T bool `json:"tail"`
		}{p.Tail}),
		w.Close(),
	)
	if err != nil {
		t.Fatal(err)
	}
}

func putAll[T any](list []T, put func(any) error) error {
	for _, v := range list {
		if err := put(v); err != nil {
			return err
		}
	}
	return nil
}

var errGone = errors.New("gone")

// failing fails from a byte on.
type failing struct{ left int }

func (f *failing) Write(p []byte) (int, error) {
	if f.left -= len(p); f.left < 0 {
		return 0, errGone
	}
	return len(p), nil
}

// Wherever the reader goes away, there is an error; and a value that is not an object is
// refused.
func TestErrors(t *testing.T) {
	for left := range len("{\"head\":1,\"list\":[1,2]}\n") {
		w := New(&failing{left})
		err := errors.Join(
			w.Open(), w.Fields(map[string]int{"head": 1}),
			w.List("list", func(put func(any) error) error { return putAll([]int{1, 2}, put) }),
			w.Close(),
		)
		if !errors.Is(err, errGone) {
			t.Errorf("after %d bytes: %v", left, err)
		}
	}
	w := New(&bytes.Buffer{})
	for _, v := range []any{1, []int{1}, nil, func() {}} {
		if w.Fields(v) == nil {
			t.Errorf("%T has been taken for an object", v)
		}
	}
	if err := w.List("x", func(func(any) error) error { return errGone }); !errors.Is(err, errGone) {
		t.Error(err)
	}
}
