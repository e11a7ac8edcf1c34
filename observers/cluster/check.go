package cluster

// Check compares stored summaries with the members of a cluster. It remembers no members.
type Check struct {
	summaries *Summaries
	report    func(at string, stored, computed Summary)
	at        int // index of the part that is being added up
	members   int
	now       Summary
}

// NewCheck begins a check. It reports each summary that differs, with its position.
func NewCheck(s *Summaries, report func(at string, stored, computed Summary)) *Check {
	return &Check{summaries: s, report: report}
}

// Add adds the next member, in the order of preference.
func (c *Check) Add(m *Entry) {
	c.members++
	for i := c.summaries.find(m.At); c.at < i; {
		c.next()
	}
	if len(c.summaries.Parts) > 0 {
		c.now.addMember(&m.Ranked)
	}
}

// End ends the comparison and returns the number of members.
func (c *Check) End() (members int) {
	for c.at < len(c.summaries.Parts) {
		c.next()
	}
	return c.members
}

// next ends a part.
func (c *Check) next() {
	if p := c.summaries.Parts[c.at]; p.Summary != c.now {
		c.report(p.At, p.Summary, c.now)
	}
	c.at++
	c.now = Summary{}
}
