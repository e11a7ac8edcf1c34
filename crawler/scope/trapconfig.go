package scope

import (
	"fmt"
	"time"
)

// TrapConfig holds the thresholds of Traps. A threshold of 0 turns its rule off.
// DefaultTrapConfig returns the defaults named here. A refusal is final for the page,
// so the defaults are set where real sites end, not where traps begin: a trap costs
// some pages before it is recognised.
type TrapConfig struct {
	// MaxLength is the length of a URL in bytes; 2048, the limit of sitemaps and of
	// many servers.
	MaxLength int
	// MaxSegments is the number of segments of a path; 20. Real sites rarely exceed
	// ten.
	MaxSegments int
	// MaxBlockCopies is how often a block of one or more segments may occur in a row;
	// 2. Links that are relative by mistake make /a/b/a/b/a/b/... without end;
	// documentation, source trees and packages have /a/a/ and /a/b/a/b/. A number may
	// occur one more time, because /11/11/11/ is a date.
	MaxBlockCopies int
	// MaxSameSegment is how often one segment may occur anywhere in a path; 4. It finds
	// the same mistake on sites where several such links alternate.
	MaxSameSegment int
	// MaxSameParameter is how often the same name=value may occur in a query; 2. Forms
	// repeat names (id=1&id=2), which does not count.
	MaxSameParameter int
	// MaxQueries is about how many different queries of one or two parameters are taken
	// at one path of one site; 10,000. Many sites show all their pages by one path
	// (viewtopic.php?t=7), so this is a budget rather than the sign of a trap.
	MaxQueries int
	// MaxCombinations is the same for queries of three and more parameters; 1,000.
	// Filters of shops and lists multiply: colour, size, order and page number give
	// millions of views of the same goods.
	MaxCombinations int
	// PastYears and FutureYears are how far from now calendar pages may be; 20 and 3. A
	// page belongs to a calendar if it has a date and a word such as calendar or events
	// in its path, or a date in its query (month=2031-05). Pages of a far future are
	// also refused with a full date in the path (/2031/05/06/) and no such word; pages
	// of a far past are not, because newspapers have archives.
	PastYears, FutureYears int
	// Sessions turns on the rule on session ids; true.
	Sessions bool
	// MaxSites is the number of sites whose queries are counted in memory; 512. Each
	// takes at most 80 KB (256 cells of 32 hashes), most of them far less. The counts
	// of other sites are rebuilt when needed.
	MaxSites int
	// Now is the clock for FutureYears and PastYears; time.Now.
	Now func() time.Time
}

// DefaultTrapConfig returns the defaults.
func DefaultTrapConfig() TrapConfig {
	return TrapConfig{
		MaxLength:        2048,
		MaxSegments:      20,
		MaxBlockCopies:   2,
		MaxSameSegment:   4,
		MaxSameParameter: 2,
		MaxQueries:       10_000,
		MaxCombinations:  1_000,
		PastYears:        20,
		FutureYears:      3,
		Sessions:         true,
		MaxSites:         512,
		Now:              time.Now,
	}
}

func (c *TrapConfig) validate() error {
	for name, n := range map[string]int{
		"MaxLength": c.MaxLength, "MaxSegments": c.MaxSegments, "MaxBlockCopies": c.MaxBlockCopies,
		"MaxSameSegment": c.MaxSameSegment, "MaxSameParameter": c.MaxSameParameter, "MaxQueries": c.MaxQueries,
		"MaxCombinations": c.MaxCombinations, "PastYears": c.PastYears, "FutureYears": c.FutureYears,
	} {
		if n < 0 {
			return fmt.Errorf("traps: %s is %d: give a threshold, or 0 to turn the rule off", name, n)
		}
	}
	if c.MaxSites < 1 && (c.MaxQueries > 0 || c.MaxCombinations > 0) {
		return fmt.Errorf("traps: MaxSites is %d: to count queries it must be at least 1", c.MaxSites)
	}
	if c.Now == nil {
		c.Now = time.Now
	}
	return nil
}
