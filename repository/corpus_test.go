package repository_test

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/webindexer/indexer/export"
	"github.com/webindexer/indexer/internal/testenv"
	"github.com/webindexer/indexer/page"
	"github.com/webindexer/indexer/repository"
	"github.com/webindexer/indexer/verify"
	"github.com/webindexer/indexer/warc"
)

const corpusDir = "../../shared/corpus"

// corpusFiles lists the recorded crawls of a snapshot, or skips.
func corpusFiles(t testing.TB, snapshot string) []string {
	files, err := filepath.Glob(filepath.Join(corpusDir, snapshot, "*.warc.gz"))
	if err != nil {
		t.Fatal(err)
	}
	if len(files) == 0 {
		t.Skip("the recorded crawls of shared/corpus are not there")
	}
	return files
}

// replay loads files with some loaders at once and waits until all is done.
func replay(t testing.TB, r *repository.Repository, loaders int, files ...string) {
	t.Helper()
	fetches := make(chan *page.Fetch, 16)
	g, ctx := errgroup.WithContext(context.Background())
	for range loaders {
		g.Go(func() error {
			for f := range fetches {
				if _, err := r.Load(ctx, f); err != nil {
					return err
				}
			}
			return nil
		})
	}
	g.Go(func() error {
		defer close(fetches)
		return readAll(ctx, files, fetches)
	})
	if err := g.Wait(); err != nil {
		t.Fatal(err)
	}
	if err := r.Quiesce(context.Background()); err != nil {
		t.Fatal(err)
	}
}

func readAll(ctx context.Context, files []string, fetches chan<- *page.Fetch) error {
	for _, name := range files {
		in, err := warc.Open(name, warc.Options{})
		if err != nil {
			return err
		}
		for f, err := range in.Fetches() {
			if err != nil {
				return err
			}
			select {
			case fetches <- &f:
			case <-ctx.Done():
				return ctx.Err()
			}
		}
		if err := in.Close(); err != nil {
			return err
		}
	}
	return nil
}

// expectedDocument is a line of the corpus's answers.
type expectedDocument struct {
	URL     string   `json:"url"`
	Title   string   `json:"title"`
	TextLen int      `json:"text_len"`
	Members []string `json:"members"`
	Inlinks []struct{ Source, Target, Anchor string }
}

func expectedAnswers(t testing.TB, label string) []expectedDocument {
	f, err := os.Open(filepath.Join(corpusDir, "expected", label+".jsonl.gz"))
	if err != nil {
		t.Skip("the answers of shared/corpus are not there")
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	var docs []expectedDocument
	for d := json.NewDecoder(z); d.More(); {
		var e expectedDocument
		if err := d.Decode(&e); err != nil {
			t.Fatal(err)
		}
		docs = append(docs, e)
	}
	return docs
}

// exportLines exports and decodes.
func exportLines(t testing.TB, r *repository.Repository) (docs []export.Document, digest string) {
	t.Helper()
	var out bytes.Buffer
	res, err := r.Export(context.Background(), &out)
	if err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(&out)
	lines.Buffer(nil, 1<<30)
	for lines.Scan() {
		var d export.Document
		if err := json.Unmarshal(lines.Bytes(), &d); err != nil {
			t.Fatal(err)
		}
		docs = append(docs, d)
	}
	return docs, res.Digest
}

// checkAnswers compares an export with the corpus's answers. Their members identify
// documents. No two highest ranks of a cluster are within 2 % but not equal there, so
// that canonical URLs have to be the same.
func checkAnswers(t testing.TB, r *repository.Repository, label string) {
	t.Helper()
	want := expectedAnswers(t, label)
	got, digest := exportLines(t, r)
	t.Logf("%s: %d documents, digest %s", label, len(got), digest)
	byMembers := make(map[string]export.Document)
	for _, d := range got {
		byMembers[strings.Join(memberStrings(d), " ")] = d
	}
	if len(got) != len(want) {
		t.Errorf("%s: %d documents, want %d", label, len(got), len(want))
	}
	for _, w := range want {
		slices.Sort(w.Members)
		g, ok := byMembers[strings.Join(w.Members, " ")]
		if !ok {
			t.Errorf("%s: the document of %s is missing, or has other members than %q", label, w.URL, w.Members)
			continue
		}
		compareDocument(t, label, g, w)
	}
}

func memberStrings(d export.Document) []string {
	members := make([]string, len(d.Members))
	for i, m := range d.Members {
		members[i] = string(m)
	}
	return members
}

func compareDocument(t testing.TB, label string, g export.Document, w expectedDocument) {
	t.Helper()
	// Texts are compared in package batch, which knows where the answers err, and
	// by verify, which compares with batch.
	if string(g.URL) != w.URL {
		t.Errorf("%s: the document of %q is %s, want %s", label, w.Members, g.URL, w.URL)
	}
	if g.Title != w.Title {
		t.Errorf("%s: %s: title %q, want %q", label, w.URL, g.Title, w.Title)
	}
	have := make(map[[3]string]bool)
	for _, l := range g.Inlinks {
		have[[3]string{string(l.Source), string(l.Target), l.Anchor}] = true
	}
	if len(have) != len(w.Inlinks) {
		t.Errorf("%s: %s: %d inlinks, want %d", label, w.URL, len(have), len(w.Inlinks))
	}
	for _, l := range w.Inlinks {
		if !have[[3]string{l.Source, l.Target, l.Anchor}] {
			t.Errorf("%s: %s: inlink %v is missing", label, w.URL, l)
		}
	}
}

// checkVerify holds the repository against the batch.
func checkVerify(t testing.TB, r *repository.Repository) {
	t.Helper()
	rep, err := verify.Run(context.Background(), r)
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("verified %v", rep.Checked)
	for i, d := range rep.Differences {
		if i == 20 {
			break
		}
		t.Error(d)
	}
}

// TestCorpus replays a crawl of six real sites and compares the result with the answers
// of a separate program. With INDEXER_LONG=1 it replays two more crawls on top of it, and
// compares after each; TestAnyOrder always does so for one of the sites.
func TestCorpus(t *testing.T) {
	if testing.Short() {
		t.Skip("a minute of work")
	}
	r, err := repository.Open(context.Background(), t.TempDir(), repository.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	label := ""
	for _, snapshot := range []string{"t0", "t1", "t2"}[:testenv.Size(1, 1, 3)] {
		files := corpusFiles(t, snapshot)
		began := time.Now()
		replay(t, r, 4, files...)
		t.Logf("%s replayed in %v", snapshot, time.Since(began))
		label = map[string]string{"": snapshot}[label] + map[bool]string{true: label + "+" + snapshot}[label != ""]
		for _, o := range r.Live().Observers {
			t.Logf("%+v", o)
		}
		checkAnswers(t, r, label)
		checkVerify(t, r)
	}
}
