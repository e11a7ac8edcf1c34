package cli

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/webindexer/indexer/crawler"
	"github.com/webindexer/indexer/oracle"
	"github.com/webindexer/indexer/store"
)

// TestRejoins: a process joins the crawl again only if it was silent, and not for ever.
func TestRejoins(t *testing.T) {
	lapsed := fmt.Errorf("crawl: %w", errors.Join(oracle.ErrLapsed, errors.New("leave: connection refused")))
	now := time.Unix(1000, 0)
	r := new(rejoins)
	for _, err := range []error{nil, errors.New("disk full")} {
		if r.allow(err, now) {
			t.Errorf("after %v", err)
		}
	}
	for i := range maxRejoins {
		if !r.allow(lapsed, now.Add(time.Duration(i)*time.Second)) {
			t.Errorf("not for the %d. time", i+1)
		}
	}
	if r.allow(lapsed, now.Add(maxRejoins*time.Second)) {
		t.Errorf("for the %d. time within %v", maxRejoins+1, rejoinsCount)
	}
	if !r.allow(lapsed, now.Add(2*rejoinsCount)) {
		t.Errorf("not after %v without silence", rejoinsCount)
	}
	away := notOpened{fmt.Errorf("open the store: %w", store.ErrUnavailable)}
	for range 2 * maxRejoins {
		if !r.allow(away, now.Add(3*rejoinsCount)) {
			t.Fatal("not while the table is unreachable")
		}
	}
	if r.allow(away, now.Add(3*rejoinsCount+1)) {
		t.Error("the table was unreachable for too long")
	}
	if r.allow(notOpened{errors.New("password authentication failed")}, now.Add(3*rejoinsCount)) {
		t.Error("the store is refused to this process")
	}
	if new(rejoins).allow(away, now) {
		t.Error("a crawl that has never joined")
	}
}

// TestLimitsAfterRejoining: the next run gets what the one before has left of each limit.
func TestLimitsAfterRejoining(t *testing.T) {
	began := time.Now().Add(-time.Hour)
	f := crawlFlags{pages: 100, bytes: 5000, time: 90 * time.Minute}
	f.spend(crawler.Status{Pages: 30, Bytes: 6000, Started: began})
	if f.pages != 70 || f.bytes != 1 || f.time > 30*time.Minute || f.time <= 0 {
		t.Errorf("left are %d pages, %d bytes, %v", f.pages, f.bytes, f.time)
	}
	var none crawlFlags
	none.spend(crawler.Status{Pages: 30, Bytes: 6000, Started: began})
	if none.pages != 0 || none.bytes != 0 || none.time != 0 {
		t.Errorf("without limits, there are %d pages, %d bytes, %v", none.pages, none.bytes, none.time)
	}
}
