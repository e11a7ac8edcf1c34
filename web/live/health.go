package live

import (
	"errors"
	"io"
	"net/http"

	"indexer/notify"
)

// healthy: whoever gets an answer at all knows that the process is alive.
func healthy(w http.ResponseWriter, _ *http.Request) { say(w, http.StatusOK, "ok") }

// ready answers 200 while the store is open and observers run, and else 503. It asks
// the pipeline itself, not what was seen of it a second ago. Reasons are few words:
// they need no credentials.
func (l *Live) ready(w http.ResponseWriter, _ *http.Request) {
	switch err := l.monitor.source.Pulse().NotReady; {
	case l.monitor.ctx.Err() != nil:
		say(w, http.StatusServiceUnavailable, "ending")
	case errors.Is(err, notify.ErrPaused):
		say(w, http.StatusServiceUnavailable, "the pipeline is paused")
	case err != nil:
		say(w, http.StatusServiceUnavailable, "the pipeline has stopped")
	default:
		say(w, http.StatusOK, "ready")
	}
}

// eitherReady asks whichever decides whether the server is ready: the pipeline here, or
// the search while the pipeline is elsewhere. A pipeline that goes elsewhere between the
// two questions is no failure.
func (l *Live) eitherReady(search http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if l.opts.Elsewhere == nil || l.opts.Elsewhere() || errors.Is(l.monitor.source.Pulse().NotReady, ErrUnknown) {
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
	_, err := io.WriteString(w, text+"\n")
	_ = err // whoever asked has gone
}
