package live

import (
	"errors"
	"io"
	"net/http"

	"github.com/webindexer/indexer/notify"
)

// healthy always answers 200: any answer shows that the process is alive.
func healthy(w http.ResponseWriter, _ *http.Request) { say(w, http.StatusOK, "ok") }

// ready answers 200 while the store is open and observers run, and 503 otherwise. It asks
// the pipeline itself rather than relying on the last sample. It gives only a brief reason,
// because the check needs no credentials.
func (l *Live) ready(w http.ResponseWriter, _ *http.Request) {
	switch err := l.monitor.source.Sample().NotReady; {
	case l.monitor.ctx.Err() != nil:
		say(w, http.StatusServiceUnavailable, "shutting down")
	case errors.Is(err, notify.ErrPaused):
		say(w, http.StatusServiceUnavailable, "the pipeline is paused")
	case err != nil:
		say(w, http.StatusServiceUnavailable, "the pipeline has stopped")
	default:
		say(w, http.StatusOK, "ready")
	}
}

// eitherReady checks the pipeline if it runs in this process, and otherwise the search.
// The pipeline may move to another process between the two checks, so a sample that is
// unknown leads to the search as well.
func (l *Live) eitherReady(search http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if l.opts.Elsewhere == nil || l.opts.Elsewhere() || errors.Is(l.monitor.source.Sample().NotReady, ErrUnknown) {
			search.ServeHTTP(w, r)
			return
		}
		l.ready(w, r)
	})
}

func say(w http.ResponseWriter, status int, text string) {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(status)
	_, _ = io.WriteString(w, text+"\n") // if it fails, the client has gone
}
