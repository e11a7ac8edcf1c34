package sites

import (
	"bytes"
	"cmp"
	"compress/gzip"
	"compress/zlib"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"strconv"
	"strings"

	"github.com/webindexer/indexer/page"

	"github.com/andybalholm/brotli"
	"github.com/klauspost/compress/zstd"
	"golang.org/x/text/encoding/htmlindex"
)

// directives are the known @ lines.
var directives = map[string]bool{"charset": true, "bom": true, "coding": true, "cut": true, "base64": true, "like": true}

// build makes the header and body of a fetch from the text.
func (s *Site) build(e *entry, fields http.Header, how map[string]string, text string) error {
	f := &e.fetch
	body := []byte(text)
	if like := how["like"]; like != "" {
		model, err := s.latest(like)
		if err != nil {
			return err
		}
		if text != "" {
			return errors.New("@like cannot have a body of its own")
		}
		body = model.Body
		maps.Copy(f.Header, model.Header)
	}
	maps.Copy(f.Header, fields)
	body, err := encode(body, how)
	if err != nil {
		return err
	}
	if (f.Revisit || f.Status == 0) && len(body) > 0 {
		return errors.New("a fetch without a response cannot have a body")
	}
	setContentType(f.Header, body, how["charset"])
	f.Body = body
	return e.send(how)
}

// latest returns the last earlier fetch of the URL with a response.
func (s *Site) latest(raw string) (*page.Fetch, error) {
	u, err := page.ParseURL(raw)
	if err != nil {
		return nil, fmt.Errorf("@like: %w", err)
	}
	for i := len(s.entries) - 1; i >= 0; i-- {
		if f := &s.entries[i].fetch; f.URL == u && f.Err == "" && !f.Revisit {
			return f, nil
		}
	}
	return nil, fmt.Errorf("@like: no response for %s above", u)
}

// encode turns the text of the body into bytes.
func encode(body []byte, how map[string]string) ([]byte, error) {
	if how["base64"] != "" {
		raw, err := base64.StdEncoding.DecodeString(string(bytes.Join(bytes.Fields(body), nil)))
		if err != nil {
			return nil, fmt.Errorf("@base64: %w", err)
		}
		return raw, nil
	}
	if how["bom"] != "" {
		body = append([]byte("\ufeff"), body...)
	}
	name := how["charset"]
	if name == "" {
		return body, nil
	}
	enc, err := htmlindex.Get(name)
	if err != nil {
		return nil, fmt.Errorf("@charset %s: %w", name, err)
	}
	body, err = enc.NewEncoder().Bytes(body)
	if err != nil {
		return nil, fmt.Errorf("@charset %s: the body has characters outside this character set: %w", name, err)
	}
	return body, nil
}

// setContentType sets the default type of a body. "-" means no type.
func setContentType(h http.Header, body []byte, charset string) {
	switch {
	case h.Get("Content-Type") == "-":
		h.Del("Content-Type")
	case h.Get("Content-Type") == "" && len(body) > 0:
		h.Set("Content-Type", "text/html; charset="+cmp.Or(charset, "utf-8"))
	}
}

// send makes the response in the form in which a server sends it.
func (e *entry) send(how map[string]string) error {
	f := &e.fetch
	e.wireHeader, e.wireBody = f.Header.Clone(), f.Body
	if coding := how["coding"]; coding != "" {
		var err error
		if e.wireBody, err = compress(coding, f.Body); err != nil {
			return err
		}
		e.wireHeader.Set("Content-Encoding", coding)
	}
	if how["cut"] == "" {
		return nil
	}
	n, err := strconv.Atoi(how["cut"])
	if err != nil || n < 0 || n > len(e.wireBody) {
		return fmt.Errorf("@cut: want a number of bytes up to %d, have %q", len(e.wireBody), how["cut"])
	}
	e.wireBody = e.wireBody[:n]
	if how["coding"] == "" {
		f.Body = e.wireBody // nothing shows that the body is cut
		return nil
	}
	f.Body, f.Err = nil, "the body is cut"
	return nil
}

// compress applies a content coding.
func compress(coding string, body []byte) ([]byte, error) {
	var out bytes.Buffer
	var w io.WriteCloser
	var err error
	switch strings.ToLower(coding) {
	case "gzip":
		w = gzip.NewWriter(&out)
	case "deflate":
		w = zlib.NewWriter(&out)
	case "br":
		w = brotli.NewWriter(&out)
	case "zstd":
		w, err = zstd.NewWriter(&out, zstd.WithEncoderConcurrency(1))
	default:
		err = fmt.Errorf("@coding: want gzip, deflate, br or zstd, have %q", coding)
	}
	if err != nil {
		return nil, err
	}
	_, err = w.Write(body)
	err = errors.Join(err, w.Close())
	return out.Bytes(), err
}
