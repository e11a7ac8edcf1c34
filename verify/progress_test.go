package verify_test

import (
	"bytes"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/webindexer/indexer/export"
	"github.com/webindexer/indexer/repository"
	"github.com/webindexer/indexer/verify"
	"github.com/webindexer/indexer/verify/verifytest"
)

// TestProgress: work that takes long in a large repository reports its progress.
func TestProgress(t *testing.T) {
	dir := t.TempDir()
	r, err := repository.Open(t.Context(), dir, repository.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range verifytest.Webs(t, "../testdata/sites", 1) {
		if _, err := r.Load(t.Context(), &f); err != nil {
			t.Fatal(err)
		}
	}
	if err := r.Quiesce(t.Context()); err != nil {
		t.Fatal(err)
	}
	var said bytes.Buffer
	tell := func(format string, args ...any) { fmt.Fprintf(&said, format+"\n", args...) }
	wantSaid := func(work string, err error, lines ...string) {
		t.Helper()
		if err != nil {
			t.Errorf("%s: %v", work, err)
		}
		for _, line := range lines {
			if !strings.Contains(said.String(), line) {
				t.Errorf("%s does not tell %q: %s", work, line, said.String())
			}
		}
		said.Reset()
	}
	_, err = r.Check(t.Context(), tell)
	wantSaid("check", err, "checking the store: 1", "checking the index\n")
	_, err = r.Collect(t.Context(), tell)
	wantSaid("gc", err, " records removed\n", "returning their space to the disk\n")
	_, err = verify.RunParts(t.Context(), r, 1, tell)
	wantSaid("verify", err, "waiting until all work is done\n1 rows read so far\n", "computing clusters and ranks\n")
	for _, tt := range []struct {
		format, table, line string
	}{
		{export.FormatJSONL, export.Documents, "1 rows of index read\n"},
		{export.FormatJSONL, export.Documents, "\n0 of "},
		{export.FormatParquet, export.Links, "1 rows of link read\n"},
		{export.FormatCDXJ, export.Captures, "1 rows of fetch read\n"},
		{export.FormatRanks, export.Hosts, "1 rows of rank read\n"},
	} {
		_, err = r.ExportAs(t.Context(), repository.ExportOptions{Choice: export.Choice{Format: tt.format, Table: tt.table}, Tell: tell}, io.Discard)
		wantSaid(tt.format, err, "waiting until all work is done\n", tt.line)
	}
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	r, err = repository.Open(t.Context(), dir, repository.Options{Reindex: true, Told: func(n int) { tell("%d clusters", n) }})
	wantSaid("reindex", err, " clusters\n")
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
}
