package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/webindexer/indexer/crawler/frontier"
	"github.com/webindexer/indexer/crawler/seeds"
	"github.com/webindexer/indexer/internal/control"
	"github.com/webindexer/indexer/page"
	"github.com/webindexer/indexer/repository"
)

// errNotVisited says that none of the requested URLs may be visited.
var errNotVisited = errors.New("none of the URLs given with --again may be visited")

// takeAgain collects the URLs of --again and all arguments that are URLs, because people
// write `--again URL…`. It returns the other arguments, files and standard input, which are
// seeds as usual.
func (f *crawlFlags) takeAgain(again, args []string) (rest []string, err error) {
	if len(again) == 0 {
		return args, nil
	}
	for _, arg := range args {
		if arg == "-" || isFile(arg) || strings.HasSuffix(arg, ".txt") && !strings.Contains(arg, "://") {
			rest = append(rest, arg)
		} else {
			again = append(again, arg)
		}
	}
	for _, arg := range again {
		s, err := seeds.ParseSeed(arg)
		if err != nil {
			return nil, &usageError{reason: "--again: " + err.Error(), help: "indexer crawl"} // names the argument
		}
		f.again = append(f.again, s.URL)
	}
	return rest, nil
}

func urlStrings(urls []page.URL) (list []string) {
	for _, u := range urls {
		list = append(list, string(u))
	}
	return list
}

// askAgain makes URLs due before the crawl continues, and reports which may not be visited.
func (s *session) askAgain(ctx context.Context, urls []page.URL) error {
	if len(urls) == 0 {
		return nil
	}
	var err error
	if s.asked, err = frontier.Again(ctx, s.repo.DB(), urls, time.Now()); err != nil {
		return err
	}
	return reportAsked(s.asked, func(a frontier.Asked) error {
		if !a.Due {
			_, _ = fmt.Fprintf(s.app.stderr, "%s is not visited: %s\n", a.URL, a.Why)
		}
		return nil
	})
}

// answerAgain makes URLs due in the process that holds the data directory. If that process
// runs a crawler, a notification tells it.
func answerAgain(ctx context.Context, r *repository.Repository, req control.Request, stdout, _ io.Writer) error {
	urls, err := parseURLs(req.Args)
	if err != nil {
		return err
	}
	list, err := frontier.Again(ctx, r.DB(), urls, time.Now())
	if errors.Is(err, frontier.ErrNoCrawl) {
		return noCrawlIn(r.Dir())
	}
	if err != nil {
		return err
	}
	return reportAsked(list, func(a frontier.Asked) error {
		if req.Format == "json" {
			return printJSON(stdout, a)
		}
		text := "is due now: the process that has the data directory visits it if it is crawling; otherwise the next crawl does"
		if !a.Due {
			text = "is not visited: " + a.Why
		}
		_, err := fmt.Fprintf(stdout, "%s %s\n", a.URL, text)
		return err
	})
}

// reportAsked reports what was decided about each URL. It fails if none is due.
func reportAsked(list []frontier.Asked, tell func(frontier.Asked) error) error {
	due := false
	for _, a := range list {
		if err := tell(a); err != nil {
			return err
		}
		due = due || a.Due
	}
	if !due {
		return errNotVisited
	}
	return nil
}
