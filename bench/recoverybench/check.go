package recoverybench

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/webindexer/indexer/observers"
)

// Check is what is in the store at the end.
type Check struct {
	Documents   int    `json:"documents"`
	Dead        int    `json:"dead"` // rows that observers gave up on
	Digest      string `json:"digest"`
	Embedded    string `json:"embedded_digest"` // of one process with a data directory
	Differences int    `json:"differences"`     // found by verify
	IndexFiles  int    `json:"index_files"`     // documents in index files that verify compared
}

// check wants nothing to be lost. It asks on the near database.
func (r *run) check(ctx context.Context) error {
	c, reader := &r.res.Check, r.data("reader")
	fmt.Fprintln(r.Log, "all work is done; what is left is checked")
	var waited struct{ Dead int }
	if err := r.toolJSON(ctx, &waited, "--data", reader, "--format", "json", "wait"); err != nil {
		return err
	}
	c.Dead = waited.Dead
	var err error
	if c.Documents, c.Digest, err = r.digest(ctx, r.near, reader); err != nil {
		return err
	}
	if err := r.verify(ctx, c); err != nil {
		return err
	}
	fmt.Fprintf(r.Log, "one process replays the %d pages\n", r.res.Loaded)
	alone := r.data("embedded")
	if _, _, err := r.tool(ctx, "", "--data", alone, "replay", r.feed.path); err != nil {
		return err
	}
	if _, c.Embedded, err = r.digest(ctx, "", alone); err != nil {
		return err
	}
	return c.failure()
}

// failure says what is wrong.
func (c *Check) failure() error {
	var errs []error
	if c.Digest != c.Embedded {
		errs = append(errs, fmt.Errorf("the digest of the deployment is %s, and that of one process %s", c.Digest, c.Embedded))
	}
	if c.Dead > 0 {
		errs = append(errs, fmt.Errorf("observers gave up on %d rows", c.Dead))
	}
	if c.Differences > 0 {
		errs = append(errs, fmt.Errorf("verify found %d differences", c.Differences))
	}
	if c.IndexFiles == 0 {
		errs = append(errs, errors.New("verify has not found the index files"))
	}
	return errors.Join(errs...)
}

func (r *run) toolJSON(ctx context.Context, into any, args ...string) error {
	out, _, err := r.tool(ctx, r.near, args...)
	if err != nil {
		return err
	}
	if err := json.Unmarshal([]byte(out), into); err != nil {
		return fmt.Errorf("indexer %s: %w", strings.Join(args, " "), err)
	}
	return nil
}

// digest is that of an export of all documents.
func (r *run) digest(ctx context.Context, store, data string) (documents int, digest string, err error) {
	out, said, err := r.tool(ctx, store, "--data", data, "export")
	if err != nil {
		return 0, "", err
	}
	_, line, found := strings.Cut("\n"+said, "\ndigest ")
	if !found {
		return 0, "", fmt.Errorf("indexer export has printed no digest: %s", said)
	}
	return strings.Count(out, "\n"), strings.TrimSpace(line), nil
}

// verify runs in the data directory of the worker that keeps the index files, which are
// compared only there.
func (r *run) verify(ctx context.Context, c *Check) error {
	var status struct {
		Leases []struct {
			Name  string
			Place struct{ Data string }
		}
	}
	if err := r.toolJSON(ctx, &status, "--data", r.data("reader"), "--format", "json", "status"); err != nil {
		return err
	}
	for _, l := range status.Leases {
		if l.Name != observers.LeaseIndex {
			continue
		}
		var report struct {
			Checked map[string]int
			Total   int `json:"differences_total"`
		}
		err := r.toolJSON(ctx, &report, "--data", l.Place.Data, "--format", "json", "verify")
		c.Differences, c.IndexFiles = report.Total, report.Checked["index_files"]
		return err
	}
	return errors.New("no worker holds the lease of the index files")
}
