package crawler

import (
	"testing"
	"time"

	"github.com/webindexer/indexer/page"
)

func job(u page.URL) Job { return Job{URL: "https://a.example" + u} }

// Jobs that end, and wakes that come, while jobs are being read must not be lost or
// done twice: the list may have been made before or after.
func TestJobsWhileReading(t *testing.T) {
	now := time.Now()
	b := newJobBuffer()
	b.ready = []Job{job("/1"), job("/2"), job("/3")}
	b.take()
	b.take()

	b.reading = true
	b.done(job("/1").URL, now.Add(time.Minute)) // to be tried again
	b.wake()
	b.fill([]Job{job("/1"), job("/2"), job("/3"), job("/4")}, 10, now.Add(time.Hour), now, -1)

	if len(b.ready) != 2 || b.ready[0].URL != job("/3").URL || b.ready[1].URL != job("/4").URL {
		t.Errorf("%v", b.ready)
	}
	if b.exhausted {
		t.Error("the wake was forgotten")
	}
	if !b.next.Equal(now.Add(time.Minute)) {
		t.Errorf("next is due in %v", b.next.Sub(now))
	}

	b.reading = true
	b.fill(nil, 10, now, now, -1)
	if !b.exhausted || !b.next.After(now) {
		t.Error("a frontier that gives nothing is asked again at once")
	}
	b.giveUp(job("/2").URL)
	if b.exhausted {
		t.Error("what was given up is not read again")
	}
}
