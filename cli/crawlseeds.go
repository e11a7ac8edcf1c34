package cli

import (
	"context"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/webindexer/indexer/crawler/frontier"
	"github.com/webindexer/indexer/crawler/seeds"
	"github.com/webindexer/indexer/page"
)

const seedsWanted = "; name a file with one URL per line, a URL, or a host name"

// isPath reports whether arg can only be the path of a file, not a host name: ./seeds, ../seeds
// or /tmp/seeds.
func isPath(arg string) bool {
	return strings.HasPrefix(arg, "./") || strings.HasPrefix(arg, "../") || strings.HasPrefix(arg, "/") && !strings.HasPrefix(arg, "//")
}

// isDirectory reports whether an argument names an existing directory.
func isDirectory(name string) bool {
	info, err := os.Stat(name)
	return err == nil && info.IsDir()
}

// isFile reports whether an argument names an existing file.
func isFile(name string) bool {
	info, err := os.Stat(name)
	return err == nil && !info.IsDir()
}

// foundSeeds are the seeds of a command line.
type foundSeeds struct {
	urls []page.URL
	bare []page.URL // the URLs that were given without a scheme
}

// findSeeds reads all arguments: files, URLs, host names, and - for standard input. It
// reports lines that are not seeds, and seeds that c excludes, and uses the rest. It fails if
// an argument has no seeds, or c excludes all of them.
func (a *app) findSeeds(ctx context.Context, args []string, c frontier.Config) (foundSeeds, error) {
	var found foundSeeds
	for _, arg := range args {
		list, err := a.seedsOf(ctx, arg)
		for _, s := range list {
			found.urls = append(found.urls, s.URL)
			if s.Bare {
				found.bare = append(found.bare, s.URL)
			}
		}
		if err == nil {
			continue
		}
		if len(list) == 0 {
			return found, err
		}
		_, _ = fmt.Fprintf(a.stderr, "%v\ncrawling from the other lines: %s\n", err, count(len(list), "seed"))
	}
	return found, a.checkExcluded(found, c)
}

// checkExcluded tells which seeds are excluded, and is an error if all of them are.
func (a *app) checkExcluded(from foundSeeds, c frontier.Config) error {
	excluded, err := c.Excluded(from.urls)
	if err != nil || len(excluded) == 0 {
		return err
	}
	told, list := 0, slices.Sorted(maps.Keys(excluded))
	for _, u := range list {
		if told++; told > maxBadSeeds {
			_, _ = fmt.Fprintf(a.stderr, "and %s\n", count(len(list)-maxBadSeeds, "more excluded seed"))
			break
		}
		_, _ = fmt.Fprintf(a.stderr, "the crawl skips the seed %s: it %s\n", u, excluded[u].Why)
	}
	for _, u := range from.urls {
		if _, ok := excluded[u]; !ok {
			return nil
		}
	}
	return &usageError{reason: "--exclude (crawl.exclude) matches every seed, so there is no URL to crawl", help: "indexer crawl"}
}

func (a *app) seedsOf(ctx context.Context, arg string) (seeds.Seeds, error) {
	switch {
	case arg == "-":
		in := &input{stdin: a.stdin}
		return parseSeeds(ctx, "standard input", interruptible(ctx, in.source))
	case isFile(arg):
		in, err := findFile(arg)
		if err != nil {
			return nil, err
		}
		list, err := parseSeeds(ctx, arg, interruptible(ctx, in.source))
		if err != nil && ctx.Err() == nil && len(list) == 0 && isWARC(arg) {
			err = loadsWith(arg)
		}
		return list, err
	case isWARC(arg) && !strings.Contains(arg, "://"): // no host name ends like that
		return nil, loadsWith(arg)
	case strings.HasSuffix(arg, ".txt"), isPath(arg) && !isDirectory(arg):
		return nil, &inputError{what: arg, reason: "no such file" + seedsWanted}
	}
	s, err := seeds.ParseSeed(arg)
	switch {
	case err != nil && isDirectory(arg):
		return nil, &inputError{what: arg, reason: "is a directory" + seedsWanted}
	case err != nil:
		return nil, &usageError{reason: err.Error(), help: "indexer crawl"} // names the argument
	}
	return seeds.Seeds{s}, nil
}

// parseSeeds reads seeds. When ctx ends, it does: a terminal or a pipe may never say more.
func parseSeeds(ctx context.Context, name string, r io.ReadCloser) (seeds.Seeds, error) {
	list, err := seeds.Parse(name, r)
	_ = r.Close() // ends the goroutine that copies into it; it is never an error
	switch {
	case ctx.Err() != nil:
		return nil, context.Cause(ctx)
	case err != nil:
		return list, &badSeeds{inputError{what: name, reason: err.Error()}}
	case len(list) == 0:
		return nil, &inputError{what: name, reason: "the file contains no URL"}
	}
	return list, nil
}

// badSeeds lists the lines of a file that are not seeds, each with file and line number.
type badSeeds struct{ inputError }

// maxBadSeeds is how many bad lines are listed. If the file is not a list of seeds at all,
// more lines would only push the first ones off the screen.
const maxBadSeeds = 20

func (e *badSeeds) Error() string {
	lines := strings.Split(e.reason, "\n")
	if more := len(lines) - maxBadSeeds; more > 0 {
		lines = append(lines[:maxBadSeeds], fmt.Sprintf("%s: and %s", e.what, count(more, "more line")))
	}
	return strings.Join(lines, "\n")
}

func (e *badSeeds) Unwrap() error { return &e.inputError }
