package render

import (
	"context"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/fetch"
	"github.com/chromedp/cdproto/network"

	"github.com/webindexer/indexer/page"
)

// TestWaitingRequestsAreSmall: what a page sends, and URLs that are too long, do not wait with its
// requests.
func TestWaitingRequestsAreSmall(t *testing.T) {
	const u = "https://a.example/"
	s := &session{requests: make(chan *fetch.EventRequestPaused, 2), arrived: make(map[network.RequestID]bool)}
	data := strings.Repeat("x", page.MaxURLLength)
	s.listen(&fetch.EventRequestPaused{Request: &network.Request{Method: "GET", URL: u, Headers: network.Headers{"X": data}}})
	s.listen(&fetch.EventRequestPaused{Request: &network.Request{
		Method: "POST", URL: u + data, PostDataEntries: []*network.PostDataEntry{{Bytes: data}},
	}})
	for _, want := range []network.Request{{Method: "GET", URL: u}, {Method: "POST"}} {
		if got := *(<-s.requests).Request; !reflect.DeepEqual(got, want) {
			t.Errorf("%+v waits, want %+v", got, want)
		}
	}
}

// TestArrived: a session remembers the arrivals of answers that something may wait for, and
// no others: a page can load any number of things that are not requests.
func TestArrived(t *testing.T) {
	s := &session{requests: make(chan *fetch.EventRequestPaused, 2), progress: make(chan struct{}, 1), arrived: make(map[network.RequestID]bool)}
	for i := range 100 { // more than wait for an answer
		s.listen(&fetch.EventRequestPaused{NetworkID: network.RequestID(fmt.Sprint("asked", i)), Request: new(network.Request)})
		s.listen(&network.EventLoadingFinished{RequestID: network.RequestID(fmt.Sprint("data", i))})
	}
	if len(s.arrived) != 2 {
		t.Errorf("%d requests are remembered, and 2 wait for their answers", len(s.arrived))
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	s.listen(&network.EventLoadingFinished{RequestID: "asked0"})
	s.await(t.Context(), "asked0")
	s.await(ended, "asked1")
	if len(s.arrived) != 0 {
		t.Errorf("after the answers, %v is remembered", s.arrived)
	}
}
