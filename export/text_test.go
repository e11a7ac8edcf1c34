package export

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/cockroachdb/datadriven"

	"github.com/webindexer/indexer/page"
)

// testdata/text.txt: records, and the bytes of the formats that are text.
func TestTextFormats(t *testing.T) {
	datadriven.RunTest(t, "testdata/text.txt", func(t *testing.T, d *datadriven.TestData) string {
		var out bytes.Buffer
		var lines [][]string
		for _, line := range strings.Split(strings.Trim(d.Input, "\n"), "\n") {
			lines = append(lines, strings.Split(line, " | "))
		}
		var err error
		switch d.Cmd {
		case "hosts":
			err = writeHosts(&out, lines)
		case "links":
			err = writeLinks(&out, lines)
		case "documents":
			err = writeDocuments(listed{NewJSONLDocuments(&out)}, lines)
		case "captures":
			err = writeCaptures(t, &out, lines)
		case "choose":
			for _, l := range lines {
				c, err := Choose(field(l, 0), field(l, 1))
				if err != nil {
					fmt.Fprintln(&out, err)
					continue
				}
				fmt.Fprintln(&out, c.Format, c.Table, c.FileName(), c.IsBinary())
			}
		default:
			t.Fatalf("unknown command %q", d.Cmd)
		}
		if err != nil {
			fmt.Fprintln(&out, "error:", err)
		}
		return strings.ReplaceAll(out.String(), "\t", "<TAB>")
	})
}

func field(l []string, i int) string {
	if i >= len(l) {
		return ""
	}
	return l[i]
}

// writeHosts takes: centrality | place by rank | rank | host.
func writeHosts(out *bytes.Buffer, lines [][]string) error {
	sink, err := NewRanks(out)
	if err != nil {
		return err
	}
	for _, l := range lines {
		centrality, err := strconv.ParseFloat(l[0], 64)
		if err != nil {
			return err
		}
		place, err := strconv.Atoi(l[1])
		if err != nil {
			return err
		}
		rank, err := strconv.ParseFloat(l[2], 64)
		if err != nil {
			return err
		}
		if err := sink.Write(&HostRank{Host: ReverseHost(l[3]), Harmonic: centrality, Place: place, Rank: rank}); err != nil {
			return err
		}
	}
	return sink.Close()
}

// writeLinks takes: source | target | anchor.
func writeLinks(out *bytes.Buffer, lines [][]string) error {
	sink := NewJSONL[Link](out)
	for _, l := range lines {
		if err := sink.Write(&Link{page.URL(l[0]), page.URL(l[1]), field(l, 2)}); err != nil {
			return err
		}
	}
	return sink.Close()
}

// writeDocuments takes: url | title | text | language | rank.
func writeDocuments(sink Sink[Document], lines [][]string) error {
	for i, l := range lines {
		rank, err := strconv.ParseFloat(l[4], 64)
		if err != nil {
			return err
		}
		d := &Document{
			URL: page.URL(l[0]), Title: l[1], Text: l[2], Language: l[3], Rank: rank, Members: []page.URL{page.URL(l[0]), "https://copy.example/"},
			ContentKey: fmt.Sprintf("%064x", i), FetchedAt: time.Date(2024, 3, 1, 12, 0, i, 123456789, time.UTC), Inlinks: []Link{},
		}
		for n := range i {
			d.Inlinks = append(d.Inlinks, Link{page.URL(fmt.Sprintf("https://from.example/%d", n)), d.URL, fmt.Sprint("<anchor> ", n)})
		}
		if err := sink.Write(d); err != nil {
			return err
		}
	}
	return sink.Close()
}

// A year without four digits would put a line in the wrong place.
func TestCDXJLineOfOtherYears(t *testing.T) {
	for _, year := range []int{-1, 10_000} {
		if line, err := CDXJLine(&Capture{URL: "https://example.com/", Time: time.Date(year, 1, 1, 0, 0, 0, 0, time.UTC)}); err == nil {
			t.Errorf("the year %d: %s", year, line)
		}
	}
}

// writeCaptures takes: time | status | type | url | body, and sorts.
func writeCaptures(t *testing.T, out *bytes.Buffer, lines [][]string) error {
	s := NewSorter(t.TempDir(), 0)
	defer func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}()
	for _, l := range lines {
		at, err := time.Parse(time.RFC3339, l[0])
		if err != nil {
			return err
		}
		status, err := strconv.Atoi(l[1])
		if err != nil {
			return err
		}
		line, err := CDXJLine(&Capture{URL: page.URL(l[3]), Time: at, Status: status, MIME: l[2], Sum: sha256.Sum256([]byte(field(l, 4)))})
		if err != nil {
			return err
		}
		if err := s.Add(line); err != nil {
			return err
		}
	}
	n, err := WriteCDXJ(out, s)
	if n != len(lines) {
		t.Errorf("%d lines of %d", n, len(lines))
	}
	return err
}
