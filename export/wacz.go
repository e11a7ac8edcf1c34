package export

import (
	"archive/zip"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"hash"
	"io"
	"mime"
	"slices"
	"time"

	"github.com/webindexer/indexer/page"
	"github.com/webindexer/indexer/warc"
)

// WACZ writes pages with everything they show as one file that a browser can replay: the Web
// Archive Collection Zipped format, version 1.1.1 (specs.webrecorder.net/wacz/1.1.1),
//
//	archive/data.warc.gz      the captures
//	indexes/index.cdxj        where each capture is in that file
//	pages/pages.jsonl         the pages that a reader may open
//	datapackage.json          sizes and digests of the files above
//	datapackage-digest.json   the digest of datapackage.json
//
// The captures are stored without a second compression, because replay tools use offsets to
// read single records from the ZIP file. Everything is written in one pass: memory holds a line
// for each capture and the title of each page.
//
// The same captures give the same bytes, so all times in the file come from the captures: the
// time of creation of the package is that of its newest capture.
type WACZ struct {
	zip    *zip.Writer
	files  []dataFile
	data   *hashedFile  // archive/data.warc.gz; nil before the first capture
	warc   *warc.Writer // writes to data
	lines  [][]byte     // of the index
	pages  []waczPage
	newest time.Time
}

const (
	waczVersion = "1.1.1"
	waczWARC    = "data.warc.gz"
	software    = "indexer"
)

// waczPage is a line of pages.jsonl.
type waczPage struct {
	ID    string   `json:"id"`
	URL   page.URL `json:"url"`
	TS    string   `json:"ts"`
	Title string   `json:"title,omitempty"`
}

// dataFile is an entry of datapackage.json.
type dataFile struct {
	Name  string `json:"name"`
	Path  string `json:"path"`
	Hash  string `json:"hash"`
	Bytes int64  `json:"bytes"`
}

// NewWACZ returns a writer to w, which it does not close.
func NewWACZ(w io.Writer) *WACZ { return &WACZ{zip: zip.NewWriter(w)} }

// readingType is the media type of the reading of a document.
const readingType = "text/html; charset=utf-8"

// Add adds a capture, with its body. The caller adds each URL once. A WACZ has one WARC file,
// so Add must not be called after Close.
//
// If the body is not the payload but a reading of it (page.Fetch.Reading), the capture is a
// resource record: no server has sent this HTML.
func (z *WACZ) Add(f *page.Fetch) error {
	if err := z.add(f); err != nil {
		return fmt.Errorf("wacz: %w", err) // the error names the capture
	}
	return nil
}

func (z *WACZ) add(f *page.Fetch) error {
	if err := z.begin(f.Time); err != nil {
		return err
	}
	from := z.warc.Offset()
	if err := z.write(f); err != nil {
		return err
	}
	line, err := cdxjLine(&Capture{
		URL: f.URL, Time: f.Time, Status: f.Status, MIME: mediaType(f), Sum: sha256.Sum256(f.Body),
	}, &place{Offset: fmt.Sprint(from), Length: fmt.Sprint(z.warc.Offset() - from), Filename: waczWARC})
	if err != nil {
		return err
	}
	z.lines = append(z.lines, line)
	if f.Time.After(z.newest) {
		z.newest = f.Time
	}
	return nil
}

func (z *WACZ) write(f *page.Fetch) error {
	if f.Reading.Exists() {
		return z.warc.WriteResource(f.URL, f.Time, readingType, f.Body)
	}
	return z.warc.WriteFetch(f)
}

// AddPage lists a capture as a page that a reader may open. Replay tools open the first
// page themselves.
func (z *WACZ) AddPage(u page.URL, at time.Time, title string) {
	id := sha256.Sum256([]byte(u))
	// Replay tools look for the capture by this time, which the index has to the second.
	z.pages = append(z.pages, waczPage{ID: hex.EncodeToString(id[:10]), URL: u, TS: at.UTC().Truncate(time.Second).Format(time.RFC3339), Title: title})
}

func (z *WACZ) begin(at time.Time) (err error) {
	if z.data != nil {
		return nil
	}
	if z.data, err = z.create("archive/"+waczWARC, zip.Store, at); err != nil {
		return err
	}
	z.warc = warc.NewWriter(z.data)
	return z.warc.WriteInfo(at, warc.Fields{
		{Name: "software", Value: software},
		{Name: "format", Value: "WARC File Format 1.1"},
		{Name: "conformsTo", Value: "http://iipc.github.io/warc-specifications/specifications/warc-format/warc-1.1/"},
		{Name: "description", Value: "stored fetches, without codings and without headers that the index does not need; of PDF documents, the text"},
	})
}

// Close writes the rest of the file. It does not complete a WACZ without captures or pages:
// there would be nothing to open.
func (z *WACZ) Close() error {
	if z.data == nil || len(z.pages) == 0 {
		return errors.New("wacz: there is no page to write")
	}
	if err := z.complete(); err != nil {
		return fmt.Errorf("wacz: %w", err)
	}
	return nil
}

func (z *WACZ) complete() error {
	z.finish(z.data, waczWARC)
	slices.SortFunc(z.lines, bytes.Compare)
	if err := z.file("indexes/", "index.cdxj", joinLines(z.lines)); err != nil {
		return err
	}
	pages, err := z.pageLines()
	if err != nil {
		return err
	}
	if err := z.file("pages/", "pages.jsonl", pages); err != nil {
		return err
	}
	if err := z.describe(); err != nil {
		return err
	}
	return z.zip.Close()
}

func (z *WACZ) pageLines() ([]byte, error) {
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(struct {
		Format string `json:"format"`
		ID     string `json:"id"`
		Title  string `json:"title"`
	}{"json-pages-1.0", "pages", "All Pages"}); err != nil {
		return nil, err
	}
	for _, p := range z.pages {
		if err := enc.Encode(p); err != nil {
			return nil, err
		}
	}
	return out.Bytes(), nil
}

// describe writes datapackage.json and its digest.
func (z *WACZ) describe() error {
	first := z.pages[0]
	described, err := json.MarshalIndent(struct {
		Profile      string     `json:"profile"`
		Resources    []dataFile `json:"resources"`
		Version      string     `json:"wacz_version"`
		Software     string     `json:"software"`
		Created      string     `json:"created"`
		Title        string     `json:"title,omitempty"`
		MainPageURL  page.URL   `json:"mainPageUrl"`
		MainPageDate string     `json:"mainPageDate"`
	}{"data-package", z.files, waczVersion, software, z.newest.UTC().Format(time.RFC3339), first.Title, first.URL, first.TS}, "", "  ")
	if err != nil {
		return err
	}
	sum := sha256.Sum256(described)
	if err := z.file("", "datapackage.json", described); err != nil {
		return err
	}
	digest, err := json.MarshalIndent(struct {
		Path string `json:"path"`
		Hash string `json:"hash"`
	}{"datapackage.json", labelledSHA256(sum[:])}, "", "  ")
	if err != nil {
		return err
	}
	return z.file("", "datapackage-digest.json", digest)
}

// file writes a small file as a whole. Files at the top level are not resources of the package.
func (z *WACZ) file(dir, name string, content []byte) error {
	f, err := z.create(dir+name, zip.Deflate, z.newest)
	if err != nil {
		return err
	}
	if _, err := f.Write(content); err != nil {
		return err
	}
	if dir != "" {
		z.finish(f, name)
	}
	return nil
}

func (z *WACZ) create(path string, method uint16, at time.Time) (*hashedFile, error) {
	w, err := z.zip.CreateHeader(&zip.FileHeader{Name: path, Method: method, Modified: at.UTC().Truncate(time.Second)})
	sum := sha256.New()
	return &hashedFile{counter{w: io.MultiWriter(w, sum)}, path, sum}, err
}

// finish adds a complete file to the resources of the package.
func (z *WACZ) finish(f *hashedFile, name string) {
	z.files = append(z.files, dataFile{Name: name, Path: f.path, Hash: labelledSHA256(f.sum.Sum(nil)), Bytes: f.n})
}

// hashedFile is a file of the package that is being written.
type hashedFile struct {
	counter
	path string
	sum  hash.Hash
}

func labelledSHA256(sum []byte) string { return "sha256:" + hex.EncodeToString(sum) }

func joinLines(lines [][]byte) []byte {
	var out bytes.Buffer
	for _, line := range lines {
		out.Write(line)
		out.WriteByte('\n')
	}
	return out.Bytes()
}

// mediaType returns the media type of the stored body, without parameters, or "" if the
// response states none that can be parsed.
func mediaType(f *page.Fetch) string {
	stated := f.Header.Get("Content-Type")
	if f.Reading.Exists() {
		stated = readingType
	}
	t, _, err := mime.ParseMediaType(stated)
	if err != nil {
		return ""
	}
	return t
}
