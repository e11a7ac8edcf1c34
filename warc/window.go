package warc

import "io"

// window is the part of the stream that the Reader is looking at: it can look
// ahead of its position by as much as a block is long, and a block that proves to
// be something else has not been consumed yet.
type window struct {
	src  io.Reader
	buf  []byte
	r, w int   // buf[r:w] is what is ahead
	base int64 // offset in the stream of buf[0]
	err  error // why nothing more can be had for now
}

const (
	windowSize = 256 << 10
	windowKeep = 4 << 20 // a larger buffer is given up once it is not needed
)

func newWindow(src io.Reader) *window { return &window{src: src, buf: make([]byte, windowSize)} }

func (w *window) pos() int64    { return w.base + int64(w.r) }
func (w *window) ahead() []byte { return w.buf[w.r:w.w] }

// advance consumes n bytes that are ahead.
func (w *window) advance(n int) { w.r += n }

// fill makes at least n bytes be ahead, or says no: the reason is w.err then, and
// stays until resume. The buffer grows as data come, not as lengths are claimed.
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

// resume lets fill go on after a break in the stream.
func (w *window) resume() { w.err = nil }
