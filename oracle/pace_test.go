package oracle

import (
	"testing"
	"time"
)

// TestPace hands out 100 timestamps a second for two hours.
func TestPace(t *testing.T) {
	var p pace
	begin := time.Unix(1_000_000, 0)
	const seconds = 7200
	for i := range seconds * 5 {
		p.note(begin.Add(time.Duration(i)*200*time.Millisecond), uint64(20*i))
		if len(p.samples) > paceSamples {
			t.Fatalf("%d samples", len(p.samples))
		}
	}
	now := begin.Add(seconds * time.Second)
	if rate := p.perSecond(now, seconds*100); rate < 99 || rate > 101 {
		t.Errorf("%v a second, want 100", rate)
	}
	for _, ago := range []time.Duration{0, time.Second, time.Minute, 10 * time.Minute, time.Hour, 2 * time.Hour} {
		ts := uint64((seconds*time.Second - ago) / (10 * time.Millisecond))
		slack := ago + 2*time.Second // samples are the thinner, the older they are
		if age := p.age(now, ts); age < ago-time.Second || age > ago+slack {
			t.Errorf("the timestamp of %v ago is %v old", ago, age)
		}
	}
	var none pace
	if none.perSecond(now, 5) != 0 || none.age(now, 5) != 0 {
		t.Error("without samples, there is a rate or an age")
	}
}
