package render

import (
	"cmp"
	"context"
	"time"

	"github.com/webindexer/indexer/page"
)

// Version rises with every change of this package that changes the HTML of some page.
const Version = 3

// Lookup returns the fetch in force of a URL, or nil if there is none.
type Lookup func(ctx context.Context, u page.URL) (*page.Fetch, error)

// Result is a page as the browser showed it.
type Result struct {
	// HTML is the document after its scripts ran, in UTF-8, with open shadow trees in place of
	// their hosts' children. It is nil if Failure is set.
	HTML []byte
	// Failure says which limit the page exceeded, or that it crashed its process.
	Failure string
	// MayPass says that the failure may be one of the machine, and another attempt may succeed:
	// the page exceeded the limit of real time, or its process has died.
	MayPass bool
	// Requests are the URLs that the page asked for, in the order of the first request, each
	// once, without its own. They include those that lookup did not know.
	Requests []page.URL
	// Console are errors: what scripts wrote with console.error, and uncaught exceptions.
	Console []string
	// Screenshot and Thumbnail are WebP images of the top of the page; nil if there are none.
	Screenshot, Thumbnail []byte
}

// Limits bound what a page may do. The zero value of a field means its default.
type Limits struct {
	Requests      int           // that are answered, and URLs that are asked for; further ones fail. Default: 500
	Frames        int           // documents of frames that are answered; further ones fail. Default: 20
	AnswerBytes   int           // bytes of all answers together; what exceeds them fails. Default: 64 MiB
	HTMLBytes     int           // of the document. Default: 8 MiB
	VirtualTime   time.Duration // of the page's clock. Default: 10 s
	RealTime      time.Duration // of a rendering. Default: 30 s
	ConsoleLines  int           // further ones are dropped. Default: 20
	ConsoleLength int           // bytes of a line; the rest is cut. Default: 300
	Height        int           // CSS pixels of the screenshot. Default: 2880
	HeapMiB       int           // of the scripts of a process. Default: 512
}

func (l Limits) withDefaults() Limits {
	return Limits{
		Requests:      cmp.Or(l.Requests, 500),
		Frames:        cmp.Or(l.Frames, 20),
		AnswerBytes:   cmp.Or(l.AnswerBytes, 64<<20),
		HTMLBytes:     cmp.Or(l.HTMLBytes, 8<<20),
		VirtualTime:   cmp.Or(l.VirtualTime, 10*time.Second),
		RealTime:      cmp.Or(l.RealTime, 30*time.Second),
		ConsoleLines:  cmp.Or(l.ConsoleLines, 20),
		ConsoleLength: cmp.Or(l.ConsoleLength, 300),
		Height:        cmp.Or(l.Height, 2880),
		HeapMiB:       cmp.Or(l.HeapMiB, 512),
	}
}

// The viewport, in CSS pixels, and how much smaller a thumbnail is.
const (
	viewportWidth  = 1280
	viewportHeight = 960
	thumbnailScale = 0.25
)

// epoch is the date at which the clock of each page begins. The time of the fetch would not
// do: a fetch of an unchanged page renews it, so the document would depend on how often the
// page was fetched.
var epoch = time.Date(2026, time.January, 1, 0, 0, 0, 0, time.UTC)
