package crawler

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/cockroachdb/datadriven"

	"github.com/webindexer/indexer/page"
)

// TestSchedules crawls small webs in virtual time and draws what happened:
//
//	R robots.txt   P page   S sitemap, feed or probe   . nothing
//
// a column is `step` of time. The answers of the web are given by `web`, "crawl" runs
// until nothing is due, "again" runs a new crawler on the same frontier.
func TestSchedules(t *testing.T) {
	datadriven.Walk(t, "testdata/schedule", func(t *testing.T, path string) {
		w, frontier := newWeb(), newFrontier()
		w.stagger, frontier.stagger = true, true
		var elapsed time.Duration
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			switch d.Cmd {
			case "web":
				parseWeb(t, w, d.Input)
				return ""
			case "seeds":
				for line := range strings.FieldsSeq(d.Input) {
					frontier.offer(page.MustParseURL(line), 0, 0, "seed")
				}
				return ""
			case "crawl":
				var out string
				synctest.Test(t, func(t *testing.T) {
					time.Sleep(elapsed) // continue where the last crawl ended
					out = crawlAndDraw(t, d, w, frontier)
					elapsed = time.Since(epoch)
				})
				return out
			case "forget": // all that was said so far of a URL
				delete(w.answers, page.MustParseURL(d.CmdArgs[0].Key))
				return ""
			case "entries":
				return entries(frontier)
			}
			return "unknown command"
		})
	})
}

// epoch is when the time of a synctest bubble begins.
var epoch = time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)

func crawlAndDraw(t *testing.T, d *datadriven.TestData, w *web, frontier *memFrontier) string {
	o := optionsOf(t, d)
	c := New(o, frontier, w, nil)
	frontier.wake = c.Wake
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	start := time.Now()
	if s := arg(d, "stop"); s != "" {
		time.AfterFunc(mustDuration(t, s), cancel)
	}
	if err := c.Run(ctx); err != nil {
		return "error: " + err.Error()
	}
	frontier.check(t)
	checkPoliteness(t, w, o.WithDefaults())
	calls := slices.DeleteFunc(w.byStart(), func(x *call) bool { return x.start.Before(start) })
	var b strings.Builder
	if s := arg(d, "draw"); s != "" {
		draw(&b, calls, start, mustDuration(t, s))
	}
	if arg(d, "list") != "no" {
		for _, x := range calls {
			what := strconv.Itoa(x.status)
			if x.class != 0 {
				what = x.class.String()
			}
			fmt.Fprintf(&b, "%s - %s  %-4s %s\n", stamp(x.start.Sub(start)), stamp(x.end.Sub(start)), what, x.url)
		}
	}
	s := c.Status(0)
	fmt.Fprintf(&b, "ended after %s: %s", stamp(time.Since(start)), s.Ended)
	if n := s.Hosts; n.Robots+n.Backoff > 0 {
		fmt.Fprintf(&b, "; left: %d hosts backing off, %d without robots.txt", n.Backoff, n.Robots)
	}
	for _, u := range s.Unreached {
		fmt.Fprintf(&b, "\nunreached: %s (%s), attempts: %d", u.Host, u.Why, u.Attempts)
	}
	for _, h := range c.LeftAlone(2) {
		fmt.Fprintf(&b, "\nleft alone: %s (%s)", h.Host, h.Why)
	}
	return b.String() + "\n"
}

func (f *memFrontier) check(t testing.TB) {
	t.Helper()
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, w := range f.wrong {
		t.Error(w)
	}
}

// draw writes a line per host.
func draw(b *strings.Builder, calls []*call, start time.Time, step time.Duration) {
	rows := make(map[string][]byte)
	var hosts []string
	for _, x := range calls {
		key := HostOf(x.url)
		if rows[key] == nil {
			hosts = append(hosts, key)
		}
		from, to := int(x.start.Sub(start)/step), int((x.end.Sub(start).Round(time.Millisecond)-1)/step)
		for len(rows[key]) <= to {
			rows[key] = append(rows[key], '.')
		}
		for i := from; i <= to; i++ {
			rows[key][i] = letter(x.url)
		}
	}
	slices.Sort(hosts)
	for _, h := range hosts {
		fmt.Fprintf(b, "%-24s %s\n", h, rows[h])
	}
}

func letter(u page.URL) byte {
	switch p := u.Path(); {
	case p == "/robots.txt":
		return 'R'
	case strings.HasSuffix(p, ".xml"), len(p) == 25 && !strings.ContainsAny(p[1:], "./"):
		return 'S'
	}
	return 'P'
}

func stamp(d time.Duration) string {
	d = d.Round(time.Millisecond)
	if d < 100*time.Second {
		return fmt.Sprintf("%7.3f", d.Seconds())
	}
	return fmt.Sprintf("%7s", d)
}

func entries(f *memFrontier) string {
	var b strings.Builder
	for _, e := range f.list() {
		in, state := e.index, e.state
		if e.refused {
			state = "refused"
		}
		if in == "" {
			in = "-"
		}
		due := "never"
		if !e.job.Due.IsZero() {
			due = e.job.Due.Sub(epoch).Round(time.Millisecond).String()
		}
		fmt.Fprintf(&b, "%s  %s  in the index: %s  visits %d  strikes %d  due %s\n    %s\n",
			e.job.URL, state, in, e.job.Visits, e.job.Strikes, due, e.note)
	}
	return b.String()
}

func arg(d *datadriven.TestData, key string) string {
	for _, a := range d.CmdArgs {
		if a.Key == key && len(a.Vals) > 0 {
			return a.Vals[0]
		}
	}
	return ""
}

// optionsOf reads the settings of "crawl". Probes and guessing are off unless asked
// for.
func optionsOf(t testing.TB, d *datadriven.TestData) Options {
	o := Options{Seed: 1, Concurrency: 8}
	o.Sources.NoProbe = true
	for _, a := range d.CmdArgs {
		v := ""
		if len(a.Vals) > 0 {
			v = a.Vals[0]
		}
		switch a.Key {
		case "min-delay":
			o.Politeness.MinDelay = mustDuration(t, v)
		case "factor":
			o.Politeness.DelayFactor, _ = strconv.ParseFloat(v, 64)
		case "per-host":
			o.Politeness.PerHost, _ = strconv.Atoi(v)
		case "per-domain":
			o.Politeness.PerDomain, _ = strconv.Atoi(v)
		case "domain-delay":
			o.Politeness.DomainDelay = mustDuration(t, v)
		case "per-ip":
			o.Politeness.PerIP, _ = strconv.Atoi(v)
		case "max-wait":
			o.MaxWait = mustDuration(t, v)
		case "max-wait-unreached":
			o.MaxWaitUnreached = mustDuration(t, v)
		case "concurrency":
			o.Concurrency, _ = strconv.Atoi(v)
		case "hosts":
			o.Memory.Hosts, _ = strconv.Atoi(v)
		case "buffer":
			o.Memory.Buffer, _ = strconv.Atoi(v)
		case "turn":
			o.Memory.Turn, _ = strconv.Atoi(v)
		case "pages":
			o.Limits.Pages, _ = strconv.ParseInt(v, 10, 64)
		case "time":
			o.Limits.Time = mustDuration(t, v)
		case "follow":
			o.Follow = true
		case "probe":
			o.Sources.NoProbe = false
		case "guess":
			o.Sources.GuessSitemap = true
		case "bare":
			for _, u := range a.Vals {
				o.Bare = append(o.Bare, page.MustParseURL(u))
			}
		case "stop", "draw", "list":
		default:
			t.Fatalf("unknown argument %s", a.Key)
		}
	}
	return o
}
