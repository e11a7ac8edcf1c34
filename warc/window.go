package warc

import "io"

// window is the part of the stream that the Reader is looking at. It can look ahead by the
// length of a block, so that a supposed block that proves to be something else has not been
// consumed yet.
type window struct {
	src  io.Reader
	buf  []byte
	r, w int   // buf[r:w] is the data ahead
	base int64 // offset in the stream of buf[0]
	err  error // why no more data is available for now
}

const (
	windowSize = 256 << 10
	windowKeep = 4 << 20 // a larger buffer is released once it is not needed
)

func newWindow(src io.Reader) *window { return &window{src: src, buf: make([]byte, windowSize)} }

func (w *window) pos() int64    { return w.base + int64(w.r) }
func (w *window) ahead() []byte { return w.buf[w.r:w.w] }

// advance consumes n bytes of the data ahead.
func (w *window) advance(n int) { w.r += n }

// fill ensures that at least n bytes are ahead, or returns false; then w.err is the reason,
// until resume. The buffer grows with the data that arrives, not with claimed lengths.
func (w *window) fill(n int) bool {
	for w.w-w.r < n && w.err == nil {
		w.makeRoom(n)
		var got int
		got, w.err = w.src.Read(w.buf[w.w:])
		w.w += got
	}
	return w.w-w.r >= n
}

func (w *window) makeRoom(n int) {
	if w.w == w.r && w.r > 0 { // nothing to move
		w.base += int64(w.r)
		w.r, w.w = 0, 0
		if cap(w.buf) > windowKeep && n <= windowSize {
			w.buf = make([]byte, windowSize)
		}
		return
	}
	if len(w.buf)-w.w >= windowSize/4 {
		return
	}
	to := w.buf
	if w.w-w.r > len(w.buf)/2 {
		to = make([]byte, 2*len(w.buf))
	}
	copy(to, w.buf[w.r:w.w])
	w.base += int64(w.r)
	w.r, w.w, w.buf = 0, w.w-w.r, to
}

// resume lets fill continue after a break in the stream.
func (w *window) resume() { w.err = nil }

// giveBack drops the data ahead, which the stream will return again.
func (w *window) giveBack() { w.w, w.err = w.r, nil }
