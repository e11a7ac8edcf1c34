package crawltest

import (
	"bytes"
	"cmp"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/webindexer/indexer/page"
)

// ServeHTTP logs the request and answers as the web's text says.
func (h *host) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	x := h.web.begin(h, r)
	if h.handle != nil {
		h.web.end(x, 0) // before anything is sent
		if h.handle(w, r) {
			return
		}
	}
	f := h.find(r.URL.RequestURI())
	if f == nil {
		h.web.end(x, http.StatusNotFound)
		http.NotFound(w, r)
		return
	}
	how, arg, _ := strings.Cut(f.Header.Get("X-Serve"), " ")
	if act := hostile[how]; act != nil {
		h.attack(w, x, f, act)
		return
	}
	switch {
	case how == "hang":
		// The server does not see at once when the client gives up. The request counts
		// as over when it began, so that checks on the next one remain valid.
		h.web.end(x, 0)
		<-r.Context().Done()
		return
	case how == "drop":
		h.web.end(x, 0)
		panic(http.ErrAbortHandler)
	case f.Err != "":
		h.raw(w, x, 0, "HTTP/1.1 2")
		return
	case how == "slow":
		d, err := time.ParseDuration(arg)
		if err != nil {
			panic(err)
		}
		select {
		case <-time.After(d):
		case <-r.Context().Done():
		}
	}
	h.send(w, r, x, f, how, arg)
}

func (h *host) send(w http.ResponseWriter, r *http.Request, x *Request, f *page.Fetch, how, arg string) {
	header := w.Header()
	for name, values := range f.Header {
		if name != "X-Serve" && name != "X-Expect" && name != "X-Index" {
			header[name] = values
		}
	}
	if tag := header.Get("Etag"); tag != "" && r.Header.Get("If-None-Match") == tag {
		h.web.end(x, http.StatusNotModified)
		w.WriteHeader(http.StatusNotModified)
		return
	}
	body := f.Body
	switch how {
	case "gzip", "br", "zstd", "deflate":
		body = h.packed[f]
		header.Set("Content-Encoding", how)
	case "bomb":
		body = h.packed[f]
		header.Set("Content-Encoding", cmp.Or(arg, "gzip"))
	case "as": // declare that coding, and send noise
		body = bytes.Repeat([]byte{0, 1, 2, 254}, 100)
		header.Set("Content-Encoding", arg)
	case "short", "long":
		n, err := strconv.Atoi(arg)
		if err != nil {
			panic(err)
		}
		if how == "long" {
			n = -n
		}
		h.lie(w, x, f, len(body)+n)
		return
	}
	header.Set("Content-Length", strconv.Itoa(len(body)))
	// The client may read what is sent from here on before this goroutine continues.
	h.web.end(x, f.Status)
	w.WriteHeader(f.Status)
	_, _ = w.Write(body) // the client may have gone
}

// lie sends a response whose Content-Length is wrong.
func (h *host) lie(w http.ResponseWriter, x *Request, f *page.Fetch, promised int) {
	h.raw(w, x, f.Status, fmt.Sprintf("HTTP/1.1 %d Lie\r\nContent-Type: %s\r\nContent-Length: %d\r\n\r\n%s",
		f.Status, f.Header.Get("Content-Type"), promised, f.Body))
}

// raw sends exactly these bytes and closes the connection.
func (h *host) raw(w http.ResponseWriter, x *Request, status int, response string) {
	conn, out, err := http.NewResponseController(w).Hijack()
	if err != nil {
		panic(err)
	}
	h.web.end(x, status)
	_, _ = out.WriteString(response) // the test checks what the client makes of it
	_ = out.Flush()
	_ = conn.Close()
}

// pack compresses a body before it is requested: a bomb takes its time.
func (h *host) pack(f *page.Fetch) {
	switch how, arg, _ := strings.Cut(f.Header.Get("X-Serve"), " "); how {
	case "gzip", "br", "zstd", "deflate":
		h.packed[f] = compress(how, f.Body)
	case "bomb":
		h.packed[f] = compress(arg, append(bytes.Clone(f.Body), bytes.Repeat([]byte(" "), 16<<20)...))
	}
}
