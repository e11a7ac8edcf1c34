package crawler

import "time"

// maxRobotsAge is how long a robots.txt is valid at most (RFC 9309 section 2.4), with a
// margin for rounding.
const maxRobotsAge = 25 * time.Hour

// mendTimes replaces stored times that are impossible. A clock that was wrong when they
// were stored, and has been set back since, must not keep a host from being asked for
// years. Within a run time is monotonic, and mendTimes changes nothing.
func (s *HostState) mendTimes(now, started time.Time, o *Politeness) {
	longest := now.Add(max(o.MaxBackoff+o.MaxBackoff/4, o.MaxRetryAfter))
	for _, until := range []*time.Time{&s.Until, &s.AskedUntil} {
		if until.After(longest) {
			*until = longest
		}
	}
	if s.Robots.Until.After(now.Add(maxRobotsAge)) {
		s.Robots.Until = now
	}
	if s.Saved.After(now) {
		s.Saved = started // by an earlier run
	}
	for _, at := range []*time.Time{&s.SitemapsRead, &s.Soft.Asked} {
		if at.After(now) {
			*at = now
		}
	}
}
