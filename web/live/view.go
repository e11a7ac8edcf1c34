package live

import (
	"encoding/json"
	"errors"
	"strconv"
	"time"

	"github.com/webindexer/indexer/notify"
	"github.com/webindexer/indexer/repository"
	"github.com/webindexer/indexer/web/assets"
)

// view is the content of the page: texts, and what the script needs for drawing. The page
// is rendered from it, and clients receive it every second.
type view struct {
	At    string `json:"at"`
	State string `json:"state"` // good, warn or bad
	// Text holds the text of elements, by the name in their data-text attribute.
	Text map[string]string `json:"text"`
	// Level marks elements by name: "", "busy", "warn" or "bad".
	Level map[string]string `json:"level"`
	// Bars are widths in percent.
	Bars  map[string]float64 `json:"bars"`
	Hosts []hostRow          `json:"hosts"`
	// Crawls says whether there is a frontier to show.
	Crawls bool `json:"crawls"`
	// Noted are the notes at the top of the page.
	Noted []string `json:"notes"`

	stages []stage
}

type hostRow struct {
	Host     string `json:"host"`
	New      string `json:"new"`
	Revisits string `json:"revisits"`
	Why      string `json:"why"`
}

// viewLocked makes the view. The caller holds mu and has taken at least one sample.
func (m *monitor) viewLocked() view {
	now := m.counted(m.samples[len(m.samples)-1])
	v := view{
		At:   now.Time.UTC().Format("15:04:05") + " UTC",
		Text: make(map[string]string), Level: make(map[string]string), Bars: make(map[string]float64), Hosts: []hostRow{}, Noted: []string{},
	}
	if m.notes != nil {
		v.Noted = append(v.Noted, m.notes()...)
	}
	v.addState(now, m.slow.frontier)
	v.addFreshness(m, now)
	v.addObservers(m, now)
	v.addSpace(&m.slow)
	v.addFrontier(m.slow.frontier)
	v.stages = stagesOf(now.Observers)
	if isUnknown(now) {
		v.forget(now)
	}
	if now.Elsewhere {
		v.leaveOut(now, m.slow.waiting != nil)
	}
	return v
}

// isUnknown reports whether a sample is out of date.
func isUnknown(p repository.Sample) bool { return errors.Is(p.NotReady, ErrUnknown) }

// unknown stands for a value that is not known.
const unknown = "–"

// forget removes the momentary values of a sample that is out of date. Counts and durations
// stay.
func (v *view) forget(old repository.Sample) {
	for _, name := range []string{"fresh/waiting", "fresh/rate", "backlog", "frontier/speed"} {
		v.Text[name] = unknown
	}
	for _, o := range old.Observers {
		for _, name := range []string{"backlog", "rate", "oldest"} {
			v.Text["o/"+o.Observer+"/"+name] = unknown
		}
		v.Bars[o.Observer] = 0
		delete(v.Level, o.Observer)
	}
}

// leaveOut removes the figures of a process that runs no observers: they would show an idle
// pipeline while others work. What the shared store knows stays: the rows that wait, if they
// were counted, and the dead letters.
func (v *view) leaveOut(now repository.Sample, counted bool) {
	v.Noted = append(v.Noted, "Other processes of the deployment run the observers: `indexer status` shows what they do. Here are the rows that wait in the store, counted every few seconds.")
	v.Text["space/store"] = "not on this machine"
	v.Text["committed"], v.Text["conflicts"] = unknown+" transactions committed", unknown+" conflicts"
	names := []string{"fresh/waiting", "fresh/rate", "fresh/total"}
	for _, o := range now.Observers {
		for _, name := range []string{"rate", "took", "waited", "oldest", "retries", "conflicts", "failures", "rows"} {
			names = append(names, "o/"+o.Observer+"/"+name)
		}
		if !counted {
			names = append(names, "backlog", "o/"+o.Observer+"/backlog")
		}
	}
	for _, name := range names {
		v.Text[name] = unknown
	}
}

func (v *view) addState(now repository.Sample, f *Frontier) {
	switch {
	case errors.Is(now.NotReady, notify.ErrPaused):
		v.State, v.Text["state"] = "warn", "paused: no observers run"
	case isUnknown(now):
		v.State, v.Text["state"] = "warn", shown(now.NotReady.Error())
	case now.NotReady != nil:
		v.State, v.Text["state"] = "bad", "stopped: "+shown(now.NotReady.Error())
	case f != nil && f.Paused != "":
		v.State, v.Text["state"] = "warn", "the crawl is paused: "+shown(f.Paused)
	case now.Elsewhere:
		v.State, v.Text["state"] = "good", "serving; other processes run the observers"
	default:
		v.State, v.Text["state"] = "good", "running"
	}
}

// addFreshness adds the time until pages are searchable: over the last ten minutes or, if
// no page became searchable in them, since the process started.
func (v *view) addFreshness(m *monitor, now repository.Sample) {
	l := m.source.FoundSince(now.Time.Add(-keep))
	v.Text["fresh/over"] = "the last 10 minutes"
	if l.N == 0 {
		l = m.source.FoundSince(time.Time{})
		v.Text["fresh/over"] = "since the process started"
	}
	for name, d := range map[string]time.Duration{"p50": l.P50, "p95": l.P95, "p99": l.P99} {
		v.Text["fresh/"+name] = unknown
		if l.N > 0 {
			v.Text["fresh/"+name] = span(d)
		}
	}
	total := now.Found.N()
	v.Text["fresh/total"] = assets.Number(total)
	v.Text["fresh/waiting"] = assets.Number(now.Waiting)
	v.Text["fresh/rate"] = "0/s"
	if before, seconds := m.before(rateOver); seconds > 0 {
		v.Text["fresh/rate"] = rate(float64(total-before.Found.N()) / seconds)
	}
}

// before returns the sample from the given number of ticks ago, or the oldest one, and
// its age in seconds.
func (m *monitor) before(ticks int) (p repository.Sample, seconds float64) {
	n := len(m.samples)
	p = m.samples[max(n-1-ticks, 0)]
	return p, m.samples[n-1].Time.Sub(p.Time).Seconds()
}

func (v *view) addObservers(m *monitor, now repository.Sample) {
	most := 1
	for _, o := range now.Observers {
		most = max(most, o.Backlog)
	}
	recent, seconds := m.before(rateOver)
	earlier, _ := m.before(spanOver)
	for i, o := range now.Observers {
		key := "o/" + o.Observer + "/"
		v.Bars[o.Observer] = 100 * float64(o.Backlog) / float64(most)
		v.Text[key+"backlog"] = assets.Number(o.Backlog)
		v.Text[key+"rows"] = assets.Number(o.Rows)
		v.Text[key+"rate"] = "0/s"
		took, waited := o.Took, o.Waited
		if i < len(recent.Observers) && seconds > 0 {
			v.Text[key+"rate"] = rate(float64(o.Rows-recent.Observers[i].Rows) / seconds)
			if o.Rows > recent.Observers[i].Rows || o.Running > 0 {
				v.Level[o.Observer] = "busy"
			}
		}
		if i < len(earlier.Observers) { // the first samples of another process have no observers
			if t := o.Took.Since(earlier.Observers[i].Took); t.N() > 0 {
				took, waited = t, o.Waited.Since(earlier.Observers[i].Waited)
			}
		}
		v.Text[key+"took"] = quantiles(took)
		v.Text[key+"waited"] = quantiles(waited)
		v.Text[key+"oldest"] = unknown
		if o.OldestWait > 0 {
			v.Text[key+"oldest"] = span(o.OldestWait)
		}
		v.addTroubles(o, m.slow.dead[o.Observer])
	}
	v.Text["backlog"] = assets.Plural(backlog(now), "row waits or runs", "rows wait or run")
	v.Text["conflicts"] = assets.Plural(now.Txns.Conflicts, "conflict", "conflicts")
	v.Text["committed"] = assets.Plural(now.Txns.Committed, "transaction committed", "transactions committed")
}

// quantiles formats the median and the 95th percentile of a distribution.
func quantiles(d notify.Distribution) string {
	if d.N() == 0 {
		return unknown
	}
	return span(d.Quantile(0.5)) + " · " + span(d.Quantile(0.95))
}

func (v *view) addTroubles(o notify.Stats, dead int) {
	key := "o/" + o.Observer + "/"
	dead = max(dead, 0)
	for name, n := range map[string]int64{"retries": o.Retries, "conflicts": o.Conflicts, "failures": o.Failures, "dead": int64(dead)} {
		v.Text[key+name] = assets.Number(n)
	}
	if o.Failures > 0 {
		v.Level[key+"failures"] = "warn"
	}
	if dead > 0 {
		v.Level[key+"dead"] = "bad"
	}
}

func (v *view) addSpace(s *slow) {
	missing := "…"
	if !s.read.IsZero() {
		missing = "unknown"
	}
	for _, name := range []string{"store", "index", "free", "collected", "kept"} {
		v.Text["space/"+name] = missing
	}
	if s.read.IsZero() || s.space == (repository.Space{}) {
		return
	}
	v.Text["space/store"], v.Text["space/index"], v.Text["space/free"] = size(s.space.Store), size(s.space.Index), size(s.space.Free)
	v.Text["space/collected"] = "not by this process"
	if s.space.Collects {
		c := &s.space.Collected
		v.Text["space/collected"] = assets.Number(c.Versions+c.Deletions) + " old versions, " + assets.Number(c.Rollbacks+c.LockOnly+c.Acks) + " other records"
	}
	v.Text["space/kept"] = "only what is in use"
	if !s.space.SafeAt.IsZero() && s.space.Kept > 0 {
		v.Text["space/kept"] = "since " + s.space.SafeAt.UTC().Format("2 Jan 15:04:05") + " UTC"
	}
}

func (v *view) addFrontier(f *Frontier) {
	for _, name := range []string{"new", "revisits", "hosts", "speed"} {
		v.Text["frontier/"+name] = unknown
	}
	if f == nil {
		return
	}
	v.Crawls = true
	v.Text["frontier/new"], v.Text["frontier/revisits"], v.Text["frontier/hosts"] = assets.Number(f.New), assets.Number(f.Revisits), assets.Number(f.HostsTotal)
	v.Text["frontier/speed"] = "not running in this process"
	if f.Running {
		v.Text["frontier/speed"] = rate(f.PerSecond) + ", " + assets.Number(f.Pages) + " pages so far"
	}
	for _, h := range f.Hosts {
		v.Hosts = append(v.Hosts, hostRow{shown(h.Host), assets.Number(h.New), assets.Number(h.Revisits), shown(h.Why)})
	}
}

// shown makes a text that strangers may have influenced safe to show: it bounds its length
// and removes control characters, including those that change the direction of writing.
func shown(s string) string {
	const most = 160
	kept := make([]rune, 0, most)
	for _, r := range s {
		if len(kept) == most {
			return string(append(kept, '…'))
		}
		if strconv.IsPrint(r) {
			kept = append(kept, r)
		}
	}
	return string(kept)
}

func encodeView(v view) []byte {
	b, err := json.Marshal(v)
	if err != nil { // impossible for maps of strings and numbers
		return []byte("{}")
	}
	return b
}
