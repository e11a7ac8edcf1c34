package archive

import (
	"bufio"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"mime"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/webindexer/indexer/page"
	"github.com/webindexer/indexer/warc"
)

// entry is a line of a CDXJ index.
type entry struct {
	key  string // SURT: the host reversed, so that a site lies together
	time time.Time
	url  page.URL
	mime string
	// status is 304 for a revisit.
	status   int
	digest   string
	from, to int64
}

// newEntry takes the payload's digest as warc.Digest writes it.
func newEntry(u page.URL, f *page.Fetch, digest string, from, to int64) entry {
	e := entry{key: page.SURT(u), time: f.Time, url: u, status: f.Status, from: from, to: to}
	if mediaType, _, err := mime.ParseMediaType(f.Header.Get("Content-Type")); err == nil {
		e.mime = mediaType
	}
	if f.IsRevisit() {
		e.mime = "warc/revisit"
	}
	e.digest = strings.TrimPrefix(digest, "sha1:")
	return e
}

// writeIndex writes the sorted index of a complete file. The index is on the disk
// before a rename gives it its name, because the file gets its name next.
func writeIndex(path, file string, entries []entry) (err error) {
	slices.SortStableFunc(entries, func(a, b entry) int {
		return cmp.Or(cmp.Compare(a.key, b.key), a.time.Compare(b.time))
	})
	f, err := os.Create(path + ".open")
	if err != nil {
		return fmt.Errorf("archive: %w", err)
	}
	if err := warc.LikeDirectory(f); err != nil {
		return errors.Join(fmt.Errorf("archive: %w", err), f.Close())
	}
	out := bufio.NewWriter(f)
	for _, e := range entries {
		if err = e.write(out, file); err != nil {
			break
		}
	}
	err = errors.Join(err, out.Flush(), f.Sync(), f.Close())
	if err == nil {
		err = os.Rename(path+".open", path)
	}
	if err != nil {
		return fmt.Errorf("archive: write index %s: %w", path, err)
	}
	return nil
}

func (e entry) write(out *bufio.Writer, file string) error {
	fields, err := json.Marshal(struct {
		URL      page.URL `json:"url"`
		MIME     string   `json:"mime,omitempty"`
		Status   string   `json:"status"`
		Digest   string   `json:"digest"`
		Length   string   `json:"length"`
		Offset   string   `json:"offset"`
		Filename string   `json:"filename"`
	}{e.url, e.mime, strconv.Itoa(e.status), e.digest, strconv.FormatInt(e.to-e.from, 10), strconv.FormatInt(e.from, 10), file})
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(out, "%s %s %s\n", e.key, e.time.UTC().Format("20060102150405"), fields)
	return err
}
