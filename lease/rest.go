package lease

// rest is how many looks a lease is left alone after a failure. A process that cannot prepare for
// a lease (Want.Gained) would otherwise take it and give it back every second, for as long as, say,
// the server of the index is down.
type rest struct{ length, left int }

// restMost bounds a rest, and so how long a lease may stay free after the cause has gone.
const restMost = 30

// after begins a rest after a failure, each twice as long as the one before.
func (r *rest) after(err error) {
	if err == nil {
		*r = rest{}
		return
	}
	r.length = min(max(1, 2*r.length), restMost)
	r.left = r.length
}
