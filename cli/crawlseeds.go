package cli

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"indexer/crawler/seeds"
	"indexer/page"
)

// foundSeeds are the seeds of a command line.
type foundSeeds struct {
	urls []page.URL
	bare []page.URL // the URLs that were given without a scheme
}

// findSeeds reads all arguments: files, URLs, host names, and - for standard input. It
// reports lines that are not seeds and uses the rest. It fails if there are no seeds.
func (a *app) findSeeds(args []string) (foundSeeds, error) {
	var found foundSeeds
	for _, arg := range args {
		list, err := a.seedsOf(arg)
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
	return found, nil
}

func (a *app) seedsOf(arg string) (seeds.Seeds, error) {
	switch {
	case arg == "-":
		return parseSeeds("standard input", a.stdin)
	case isFile(arg):
		f, err := os.Open(arg)
		if err != nil {
			return nil, &inputError{what: arg, reason: systemReason(err)}
		}
		list, err := parseSeeds(arg, f)
		return list, errors.Join(err, f.Close())
	case strings.HasSuffix(arg, ".txt"):
		return nil, &inputError{what: arg, reason: "no such file"}
	}
	s, err := seeds.ParseSeed(arg)
	if err != nil {
		return nil, &inputError{what: arg, reason: err.Error()}
	}
	return seeds.Seeds{s}, nil
}

func parseSeeds(name string, r io.Reader) (seeds.Seeds, error) {
	list, err := seeds.Parse(name, r)
	switch {
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
