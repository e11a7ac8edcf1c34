package render

import (
	"cmp"
	"context"
	"encoding/base64"
	"slices"
	"strings"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/fetch"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/chromedp"

	"github.com/webindexer/indexer/page"
)

// answer answers requests until ctx ends. lookups is the context of the caller.
func (s *session) answer(ctx, lookups context.Context, main cdp.FrameID) {
	for {
		select {
		case <-ctx.Done():
			return
		case e := <-s.requests:
			if err := s.answerOne(ctx, lookups, e, main); err != nil && ctx.Err() == nil {
				s.mu.Lock()
				s.broken = err
				s.mu.Unlock()
				return
			}
		}
	}
}

// answerOne answers a request and waits until its answer has arrived, so that answers arrive
// in the order of the requests. It does not wait for redirects, which have no end of their own,
// nor for documents: their end may wait for a script that they name.
func (s *session) answerOne(ctx, lookups context.Context, e *fetch.EventRequestPaused, main cdp.FrameID) error {
	f, err := s.find(lookups, e, main)
	if err != nil {
		return err
	}
	var reply chromedp.Action = fetch.FailRequest(e.RequestID, network.ErrorReasonInternetDisconnected)
	if f == nil && e.ResourceType == network.ResourceTypeDocument {
		reply = fetch.FailRequest(e.RequestID, network.ErrorReasonAborted) // leaves the frame as it is
	}
	if f != nil {
		reply = fetch.FulfillRequest(e.RequestID, int64(f.Status)).WithResponseHeaders(headersOf(f)).WithBody(base64.StdEncoding.EncodeToString(f.Body))
	}
	if err := chromedp.Run(ctx, reply); err != nil || f == nil {
		s.forget(e.NetworkID)
		return nil //nolint:nilerr // the request is gone, for example with its frame
	}
	if e.ResourceType != network.ResourceTypeDocument && f.Header.Get("Location") == "" {
		s.await(ctx, e.NetworkID)
	}
	return nil
}

// arrivalTime bounds how long the next request waits for the answer to this one. It is never
// reached, unless a page asks for more bytes than the browser buffers, and does not read them.
const arrivalTime = 5 * time.Second

// await waits until an answer has arrived.
func (s *session) await(ctx context.Context, id network.RequestID) {
	defer s.forget(id)
	timer := time.NewTimer(arrivalTime)
	defer timer.Stop()
	for {
		s.mu.Lock()
		arrived := s.arrived[id]
		s.mu.Unlock()
		if arrived || id == "" {
			return
		}
		select {
		case <-s.progress:
		case <-timer.C:
			return
		case <-ctx.Done():
			return
		}
	}
}

// forget ends the wait for an answer. A redirect is not forgotten: the request goes on under the
// same name, and may have come back already.
func (s *session) forget(id network.RequestID) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.arrived, id)
}

// find returns the response to a request; nil if it fails.
func (s *session) find(ctx context.Context, e *fetch.EventRequestPaused, main cdp.FrameID) (*page.Fetch, error) {
	if e.ResourceType == network.ResourceTypeDocument && e.FrameID == main {
		// The page itself, once. It must neither leave for another page nor reload.
		if s.served {
			return nil, nil
		}
		s.served = true
		return s.fetch, nil
	}
	if e.ResourceType == network.ResourceTypeDocument {
		if s.frames++; s.frames > s.limits.Frames {
			return nil, nil
		}
	}
	u, err := page.ParseURL(e.Request.URL)
	if err != nil || e.Request.Method != "GET" || !isResource(e.ResourceType) {
		return nil, nil //nolint:nilerr // not a resource that could have been fetched
	}
	if u != s.fetch.URL && !s.note(u) {
		return nil, nil
	}
	f := s.fetch
	if u != s.fetch.URL {
		if f, err = s.lookup(ctx, u); err != nil || f == nil {
			return nil, err
		}
	}
	s.answers++
	s.bytes += len(f.Body)
	if s.answers > s.limits.Requests || s.bytes > s.limits.AnswerBytes {
		return nil, nil
	}
	return f, nil
}

// note adds a URL to those that the page asked for, unless there are too many.
func (s *session) note(u page.URL) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if slices.Contains(s.result.Requests, u) {
		return true
	}
	if len(s.result.Requests) >= s.limits.Requests {
		return false
	}
	s.result.Requests = append(s.result.Requests, u)
	return true
}

// isResource reports whether requests of a type are answered. Sound, video, events of the server,
// prefetched pages and icons are not needed for the document, and the browser asks for some of
// them when it pleases.
func isResource(t network.ResourceType) bool {
	switch t {
	case network.ResourceTypeDocument, network.ResourceTypeStylesheet, network.ResourceTypeImage, network.ResourceTypeFont,
		network.ResourceTypeScript, network.ResourceTypeXHR, network.ResourceTypeFetch:
		return true
	}
	return false
}

// headersOf are the header fields of an answer: those that are stored, without a Refresh, which
// would leave the page.
func headersOf(f *page.Fetch) []*fetch.HeaderEntry {
	list := []*fetch.HeaderEntry{{Name: "Access-Control-Allow-Origin", Value: "*"}}
	for name, values := range f.Header {
		if strings.EqualFold(name, "Refresh") || strings.EqualFold(name, "Content-Encoding") || strings.EqualFold(name, "Content-Length") {
			continue
		}
		for _, v := range values {
			list = append(list, &fetch.HeaderEntry{Name: name, Value: v})
		}
	}
	slices.SortFunc(list, func(a, b *fetch.HeaderEntry) int {
		return cmp.Or(strings.Compare(a.Name, b.Name), strings.Compare(a.Value, b.Value))
	})
	return list
}
