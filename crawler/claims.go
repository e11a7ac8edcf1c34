package crawler

// claims are how far a host is believed that says, in sitemaps and feeds, when its
// pages changed.
//
// A time after our last visit of a page makes the next one due at once (see
// frontier.hasten). Many sites write what is not so: the time at which the sitemap
// was made, for every page. Each such visit is a test: the page had changed, or not.
// By these tests a host may hasten, in one pass over its sitemaps (a pass a day),
//
//	proven      any number: right 8 times or more, and more often than wrong
//	not known   16
//	disproved   1, wrong 8 times or more, and 3 times as often as right; so that a host
//	            that mends its ways is believed again some day
//
// Numbers are halved as they grow, so that what was last seen weighs most.
type claims struct {
	Right int `json:"right,omitempty"`
	Wrong int `json:"wrong,omitempty"`

	left int // of this pass
}

const (
	claimsProof   = 8
	claimsUnknown = 16
	claimsMost    = 64 // of tests, before they are halved
	claimsAll     = 1 << 30
)

// allowance is how many visits a pass may hasten.
func (c *claims) allowance() int {
	switch {
	case c.Wrong >= claimsProof && c.Wrong > 3*c.Right:
		return 1
	case c.Right >= claimsProof && c.Right > c.Wrong:
		return claimsAll
	}
	return claimsUnknown
}

// begin begins a pass.
func (c *claims) begin() { c.left = c.allowance() }

// reserve takes what is left, for a file that is about to be read. Files that are
// read at the same time get nothing: their sites are believed in the next pass.
func (c *claims) reserve() int {
	n := c.left
	c.left = 0
	return n
}

// giveBack returns what was not used.
func (c *claims) giveBack(n int) { c.left += n }

// learn takes the result of a test.
func (c *claims) learn(changed bool) {
	if changed {
		c.Right++
	} else {
		c.Wrong++
	}
	if c.Right+c.Wrong > claimsMost {
		c.Right, c.Wrong = c.Right/2, c.Wrong/2
	}
}
