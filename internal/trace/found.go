package trace

import "slices"

// findSearchable finds the export that made the page searchable.
//
// If the Log remembers the moment, it is the export that was running then. Otherwise it is
// the first export of the cluster that began after the page was a member and its document
// had been read: an export sees what committed before it began, and it writes the index
// files before it commits. If older versions may have been collected, an earlier export may
// have done it, so the page was searchable at the latest then.
func (b *builder) findSearchable() {
	j, e := b.journey, b.stored
	if b.found != nil {
		b.foundRemembered()
		return
	}
	ready := b.ready()
	for i := range j.Steps {
		s := &j.Steps[i]
		if s.Observer != "index" || s.What != StepRun || s.Commit == 0 || ready == 0 || s.Start < ready {
			continue
		}
		s.Found = true
		b.searchable(s.Ended)
		j.AtLatest = s.TookMS == nil && b.source.DB.SafePoint() > e.loaded
		return
	}
	j.State = StateSettled
	if len(j.Waiting) > 0 {
		j.State = StateUnderWay
	}
}

// foundRemembered takes the moment from the Log.
func (b *builder) foundRemembered() {
	at := exact(0, b.found.end)
	for i := range b.journey.Steps {
		s := &b.journey.Steps[i]
		if s.Observer != "index" || s.TookMS == nil || s.Ended.At.Before(*at.At) {
			continue
		}
		s.Found = true
		at.TS = max(s.Commit, s.Start)
		break
	}
	b.searchable(at)
}

// ready is the timestamp from which an export shows the page as loaded: the later commit of
// the run that read its document and the run that made it a member, or 0 if these have not
// run yet.
func (b *builder) ready() (ts uint64) {
	for _, s := range b.journey.Steps {
		if s.Observer == "document" && s.What == StepRun {
			ts = max(ts, s.Commit, s.Start)
			break
		}
	}
	if ts == 0 {
		return 0
	}
	for _, s := range b.journey.Steps {
		for _, w := range s.Wrote {
			if w.Column == "member:x" && w.Op == "put" {
				ts = max(ts, s.Commit)
			}
		}
	}
	return ts
}

func (b *builder) searchable(m Moment) {
	j := b.journey
	j.State, j.Searchable = StateSearchable, &m
	if m.At != nil && j.Loaded.At != nil {
		took := milliseconds(max(m.At.Sub(*j.Loaded.At), 0))
		j.TookMS = &took
	}
}

// shorten omits steps beyond maxSteps, and steps in the middle of those after the page
// became searchable.
func (b *builder) shorten() {
	j := b.journey
	first := min(len(j.Steps), maxSteps)
	if found := slices.IndexFunc(j.Steps, func(s Step) bool { return s.Found }); found >= 0 {
		first = min(found+1, maxSteps)
	}
	if later := len(j.Steps) - first; later > maxLater {
		j.Omitted = later - maxLater
		j.Steps = append(j.Steps[:first:first], j.Steps[len(j.Steps)-maxLater:]...)
	}
}
