package scope

import (
	"fmt"
	"time"
)

// TrapConfig holds the thresholds of Traps. A threshold of 0 turns its rule off.
// DefaultTrapConfig gives the defaults named here. A refusal is final for the page, so
// they are set where real sites end, not where traps begin: a trap costs some
// pages before it is known for one.
type TrapConfig struct {
	// MaxLength of a URL in bytes; 2048, which is the limit of sitemaps and of many servers.
	MaxLength int
	// MaxSegments of a path; 20. Real sites rarely go beyond ten.
	MaxSegments int
	// MaxBlockCopies is how often a block of one or more segments may stand in a
	// row; 2. Links that are relative by mistake make /a/b/a/b/a/b/... without end;
	// documentation, source trees and packages have /a/a/ and /a/b/a/b/. A number may stand
	// once more, for /11/11/11/ is a date.
	MaxBlockCopies int
	// MaxSameSegment is how often one segment may stand anywhere in a path; 4. It
	// finds the mistake above on sites where several such links take turns.
	MaxSameSegment int
	// MaxSameParameter is how often one and the same name=value may stand in a
	// query; 2. Forms repeat names (id=1&id=2), and those count for nothing here.
	MaxSameParameter int
	// MaxQueries is about how many different queries of one or two parameters are
	// taken at one path of one site; 10,000. Many sites show all their pages by
	// one path (viewtopic.php?t=7), so this is a budget rather than a trap's mark.
	MaxQueries int
	// MaxCombinations is the same for queries of three and more parameters; 1,000.
	// Filters of shops and lists multiply: colour, size, order and page number come
	// to millions of views of the same goods.
	MaxCombinations int
	// PastYears and FutureYears are how far from now calendar pages may be; 20 and
	// 3. A page is a calendar's if it has a date and a word such as calendar or
	// events in its path, or a date in its query (month=2031-05). Pages of a far future
	// are refused also with a full date in the path (/2031/05/06/) and no such word; pages
	// of a far past are not, for newspapers have archives.
	PastYears, FutureYears int
	// Sessions turns on the rule on session ids; true.
	Sessions bool
	// MaxSites is the number of sites whose queries are kept count of in memory;
	// 512, of which each takes 80 KB at most (256 cells of 32 hashes), most of them far
	// less. Of others the count is rebuilt when needed.
	MaxSites int
	// Now is the clock that FutureYears and PastYears go by; time.Now.
	Now func() time.Time
}

// DefaultTrapConfig gives the defaults.
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
		return fmt.Errorf("traps: MaxSites is %d: to count queries it must be 1 at least", c.MaxSites)
	}
	if c.Now == nil {
		c.Now = time.Now
	}
	return nil
}
