package web

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"strings"
	"unicode"
	"unicode/utf8"

	"go.uber.org/zap"

	"github.com/webindexer/indexer/index/search"
	"github.com/webindexer/indexer/repository/inspect"
	"github.com/webindexer/indexer/txn"
	"github.com/webindexer/indexer/web/assets"
)

// handlerFunc answers a request, or says why it cannot.
type handlerFunc func(w http.ResponseWriter, r *http.Request) error

// requestError says why a request cannot be answered. Its text is sent to the client.
type requestError struct {
	status int
	text   string
}

func (e *requestError) Error() string { return e.text }

// explain returns the HTTP status for an error and the text to send to the client. It
// passes on only errors that were written for clients; any other error may name paths
// of this machine.
func explain(err error) (status int, text string) {
	if request, ok := errors.AsType[*requestError](err); ok {
		return request.status, request.text
	}
	if usage, ok := errors.AsType[*search.UsageError](err); ok {
		return http.StatusBadRequest, usage.Error()
	}
	switch {
	case errors.Is(err, inspect.ErrNoCopy):
		return http.StatusNotFound, textFrom(err, inspect.ErrNoCopy)
	case errors.Is(err, ErrNotThen):
		return http.StatusNotFound, textFrom(err, ErrNotThen)
	case errors.Is(err, ErrNotOpen):
		return http.StatusServiceUnavailable, "the data directory cannot be opened (the log of the server says why), so details are unavailable; search still works"
	case errors.Is(err, ErrElsewhere):
		return http.StatusServiceUnavailable, "the process that holds the data directory is not responding, so details are unavailable; search still works"
	case errors.Is(err, search.ErrUnavailable):
		return http.StatusServiceUnavailable, "the index, or a part of it that is needed, does not answer at the moment; try again in a moment"
	case errors.Is(err, txn.ErrNoTimestamps):
		return http.StatusServiceUnavailable, "the store does not answer at the moment; try again in a moment"
	case errors.Is(err, context.DeadlineExceeded), errors.Is(err, context.Canceled):
		return http.StatusServiceUnavailable, "the request took too long and was cancelled; try again in a moment"
	}
	return http.StatusInternalServerError, "internal error; see the server's log for details"
}

// textFrom is the text of err from that of an error on which it is based.
func textFrom(err, base error) string {
	text := err.Error()
	return text[strings.Index(text, base.Error()):]
}

// answer turns a handlerFunc into an http.Handler. A handler completes a page before it
// sends the first byte, so an error is always a complete answer of its own.
func (s *Server) answer(handle handlerFunc) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		err := handle(w, r)
		if err == nil {
			return
		}
		status, text := explain(err)
		if status == http.StatusInternalServerError || errors.Is(err, search.ErrUnavailable) || errors.Is(err, txn.ErrNoTimestamps) {
			s.opts.Log.Error("request failed", zap.String("path", r.URL.Path), zap.Error(err))
		}
		if status == http.StatusServiceUnavailable {
			w.Header().Set("Retry-After", "2")
		}
		if isAPI(r) {
			refuse(w, r, status, text)
			return
		}
		frame := s.frame(clean(r.URL.Query().Get("q"), maxQuery)) // so that the visitor can correct it
		if err := s.show(w, status, "error.html", newErrorPage(frame, err, status, text)); err != nil {
			s.opts.Log.Error("cannot render an error page", zap.Error(err))
			refuse(w, r, status, text)
		}
	})
}

type errorPage struct {
	assets.Frame
	Status int
	Name   string
	Text   string
	Typed  bool // the query is wrong, and not the request
}

func newErrorPage(frame assets.Frame, err error, status int, text string) errorPage {
	p := errorPage{Frame: frame, Status: status, Name: errorName(status), Text: sentence(text)}
	if _, ok := errors.AsType[*search.UsageError](err); ok {
		p.Name, p.Typed = "This query cannot be run", true
	}
	return p
}

// errorName is the heading of an error page.
func errorName(status int) string {
	switch status {
	case http.StatusBadRequest:
		return "Bad request"
	case http.StatusNotFound:
		return "Not found"
	case http.StatusServiceUnavailable:
		return "Temporarily unavailable"
	}
	return "Something went wrong"
}

// sentence turns an error text into a sentence: it begins with a capital, unless the first word is
// an operator of queries, and ends with a full stop.
func sentence(text string) string {
	r, n := utf8.DecodeRuneInString(text)
	if first, _, _ := strings.Cut(text, " "); strings.Contains(first, ":") {
		n = 0
	}
	if !strings.ContainsAny(text[max(len(text)-1, 0):], ".?/") {
		text += "."
	}
	if n == 0 {
		return text
	}
	return string(unicode.ToUpper(r)) + text[n:]
}

func isAPI(r *http.Request) bool { return strings.HasPrefix(r.URL.Path, "/api/") }

// refuse answers with a line of text, or with a JSON object under /api/.
func refuse(w http.ResponseWriter, r *http.Request, status int, text string) {
	if !isAPI(r) {
		http.Error(w, text, status)
		return
	}
	b, err := json.Marshal(apiError{Status: status, Error: text})
	if err != nil { // impossible for a number and a string
		http.Error(w, text, status)
		return
	}
	send(w, status, "application/json", append(b, '\n'))
}

// frame is the data of the layout around every page.
func (s *Server) frame(query string) assets.Frame {
	f := assets.Frame{Query: query, Live: s.opts.Live}
	if s.opts.Notes != nil {
		f.Notes = s.opts.Notes()
	}
	return f
}

// show renders a page and sends it.
func (s *Server) show(w http.ResponseWriter, status int, name string, data any) error {
	var b bytes.Buffer
	if err := s.pages[name].ExecuteTemplate(&b, "layout", data); err != nil {
		return err
	}
	send(w, status, "text/html; charset=utf-8", b.Bytes())
	return nil
}

// send sends a complete answer.
func send(w http.ResponseWriter, status int, mediaType string, body []byte) {
	w.Header().Set("Content-Type", mediaType)
	w.WriteHeader(status)
	_, _ = w.Write(body) // if it fails, the client has gone
}

func (s *Server) notFound(_ http.ResponseWriter, _ *http.Request) error {
	return &requestError{http.StatusNotFound, "this server has no such page"}
}

func (s *Server) help(w http.ResponseWriter, _ *http.Request) error {
	frame := s.frame("")
	return s.show(w, http.StatusOK, "help.html", struct{ assets.Frame }{frame})
}
