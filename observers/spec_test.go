package observers_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"

	"github.com/webindexer/indexer/observers"
	"github.com/webindexer/indexer/observers/webtest"
	"github.com/webindexer/indexer/schema"
)

// TestSpec runs the specifications of testdata: one directory per observer, each case on
// an empty repository. Commands, and what they print:
//
//	given    fetches, one a line (webtest.ParseFetch): loads them and runs all
//	         observers until nothing is left; prints everything there is
//	load     the same without running anything; prints what has changed
//	run NAME runs one observer on all rows it is woken at; prints what has changed
//	settle   runs all observers until all work is done; prints the changes
//	atonce   links=N: how many link rows a run of document writes at once; without this
//	         command it leaves everything to cluster and links
//	limits   states=N direct=N part=N: the limits of a run of rank, on an empty repository
//	giants   members=N largest=N split=N smallest=N read=N: the limits of clusters, on an
//	         empty repository (cluster.Limits)
//	parts    entries=N: how many links a part holds, on an empty repository
//	shown    anchors=N counted=N rows=N: how many anchors a document carries, how many are
//	         counted, how many link rows a run reads, on an empty repository
//
// with "-" before removed rows and "+" before new ones. Content
// keys are cut to six digits. With only=(a,b) it prints lines that begin with a or b.
func TestSpec(t *testing.T) {
	t.Parallel()
	datadriven.Walk(t, "testdata", func(t *testing.T, path string) {
		t.Parallel()
		var stage *webtest.Stage
		opts := observers.Options{Part: schema.UsualPart, Limits: observers.Limits{AtOnce: -1}} // one step after the other
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			if d.Cmd == "parts" {
				d.ScanArgs(t, "entries", &opts.Part.Entries)
				return ""
			}
			if d.Cmd == "atonce" {
				d.ScanArgs(t, "links", &opts.Limits.AtOnce)
				return ""
			}
			if d.Cmd == "limits" {
				d.ScanArgs(t, "states", &opts.Limits.Rank.States)
				d.ScanArgs(t, "direct", &opts.Limits.Rank.Direct)
				d.ScanArgs(t, "part", &opts.Limits.Rank.Part)
				return ""
			}
			if d.Cmd == "shown" {
				d.ScanArgs(t, "anchors", &opts.Limits.Document.Anchors)
				d.ScanArgs(t, "counted", &opts.Limits.Document.CountedAnchors)
				d.ScanArgs(t, "rows", &opts.Limits.Document.InlinkRows)
				return ""
			}
			if d.Cmd == "giants" {
				l := &opts.Limits.Cluster
				d.ScanArgs(t, "members", &l.Giant)
				d.ScanArgs(t, "largest", &l.Largest)
				d.ScanArgs(t, "split", &l.Split)
				d.ScanArgs(t, "smallest", &l.Smallest)
				d.ScanArgs(t, "read", &l.Read)
				return ""
			}
			if d.Cmd == "given" || stage == nil {
				var err error
				if stage, err = webtest.NewStage(t.Context(), opts); err != nil {
					t.Fatal(err)
				}
			}
			out, err := obey(t, stage, d)
			if err != nil {
				d.Fatalf(t, "%v", err)
			}
			return out
		})
	})
}

func obey(t *testing.T, s *webtest.Stage, d *datadriven.TestData) (string, error) {
	for line := range strings.Lines(d.Input) {
		f, err := webtest.ParseFetch(line)
		if err != nil {
			return "", err
		}
		if _, err := s.Load(t.Context(), f); err != nil {
			return "", err
		}
	}
	switch d.Cmd {
	case "load":
	case "given", "settle":
		if err := s.Run(t.Context(), ""); err != nil {
			return "", err
		}
	case "run":
		if err := s.Run(t.Context(), d.CmdArgs[0].Key); err != nil {
			return "", err
		}
	default:
		return "", fmt.Errorf("unknown command %q", d.Cmd)
	}
	changes, err := s.Changes(t.Context())
	if only, ok := d.Arg("only"); ok {
		changes = filter(changes, only.Vals)
	}
	return changes, err
}

// filter keeps the lines that begin with one of some words, after the mark.
func filter(changes string, words []string) string {
	var b strings.Builder
	for line := range strings.Lines(changes) {
		if slices.ContainsFunc(words, func(w string) bool { return strings.HasPrefix(line[2:], w) }) {
			b.WriteString(line)
		}
	}
	return b.String()
}
