package crawler

// claims is the record of how often a host was right when its sitemaps and feeds said
// that pages changed.
//
// A time after our last visit of a page makes the next visit due at once (see
// frontier.bringForward). Many sites write false times: for every page, the time at
// which the sitemap was made. Each visit that was brought forward is a test: the page
// had changed, or not. In one pass over its sitemaps (a pass a day), a host may bring
// forward
//
//	proven      any number: right 8 times or more, and more often than wrong
//	not known   16
//	disproved   1: wrong 8 times or more, and 3 times as often as right; with one visit
//	            a pass, a host that improves is believed again some day
//
// Counts are halved as they grow, so that recent results weigh most.
type claims struct {
	Right int `json:"right,omitempty"`
	Wrong int `json:"wrong,omitempty"`

	left int // in this pass
}

const (
	claimsProof   = 8
	claimsUnknown = 16
	claimsMost    = 64 // tests counted before the counts are halved
	claimsAll     = 1 << 30
)

// allowance returns how many visits a pass may bring forward.
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

// reserve takes the remaining room for a file that is about to be read. Files that are
// read at the same time get none; their claims count in the next pass.
func (c *claims) reserve() int {
	n := c.left
	c.left = 0
	return n
}

// giveBack returns what was not used.
func (c *claims) giveBack(n int) { c.left += n }

// learn counts the result of a test.
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
