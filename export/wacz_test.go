package export

import (
	"archive/zip"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/webindexer/indexer/page"
	"github.com/webindexer/indexer/warc"
)

func fetchAt(u page.URL, second int64, mediaType, body string) *page.Fetch {
	return &page.Fetch{URL: u, Time: time.Unix(second, 500).UTC(), Status: 200, Header: http.Header{"Content-Type": {mediaType}}, Body: []byte(body)}
}

// waczOf writes a page, its style sheet and a redirect.
func waczOf(t *testing.T, w io.Writer) {
	t.Helper()
	z := NewWACZ(w)
	moved := &page.Fetch{URL: "https://a.example/old.css", Time: time.Unix(30, 0).UTC(), Status: 301, Header: http.Header{"Location": {"/new.css"}}}
	for _, f := range []*page.Fetch{
		fetchAt("https://a.example/", 10, "text/html; charset=utf-8", "<title>A</title>"), moved,
		fetchAt("https://a.example/new.css", 20, "text/css", "body { }"),
	} {
		if err := z.Add(f); err != nil {
			t.Fatal(err)
		}
	}
	z.AddPage("https://a.example/", time.Unix(10, 500), "A <b>")
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
}

// TestWACZ checks what the specification requires of the file, and finds each capture as a
// replay tool does: by its line in the index, in the stored WARC file.
func TestWACZ(t *testing.T) {
	var out bytes.Buffer
	waczOf(t, &out)
	files := unzipWACZ(t, out.Bytes())
	var about struct {
		Profile      string
		Resources    []dataFile
		Version      string   `json:"wacz_version"`
		Created      string   `json:"created"`
		MainPageURL  page.URL `json:"mainPageUrl"`
		MainPageDate string   `json:"mainPageDate"`
	}
	decode(t, files["datapackage.json"], &about)
	if about.Profile != "data-package" || about.Version != "1.1.1" || about.MainPageURL != "https://a.example/" ||
		about.MainPageDate != "1970-01-01T00:00:10Z" || about.Created != "1970-01-01T00:00:30Z" {
		t.Errorf("datapackage.json: %+v", about)
	}
	var names []string
	for _, r := range about.Resources {
		names = append(names, r.Path)
		if sum := sha256.Sum256(files[r.Path]); r.Hash != "sha256:"+hex.EncodeToString(sum[:]) || r.Bytes != int64(len(files[r.Path])) {
			t.Errorf("%s: %d bytes, want %d; or another digest than %s", r.Path, r.Bytes, len(files[r.Path]), r.Hash)
		}
	}
	if want := []string{"archive/data.warc.gz", "indexes/index.cdxj", "pages/pages.jsonl"}; !slices.Equal(names, want) {
		t.Errorf("resources %v, want %v", names, want)
	}
	var digest dataFile
	decode(t, files["datapackage-digest.json"], &digest)
	if sum := sha256.Sum256(files["datapackage.json"]); digest.Path != "datapackage.json" || digest.Hash != "sha256:"+hex.EncodeToString(sum[:]) {
		t.Errorf("datapackage-digest.json: %+v", digest)
	}
	if want := `{"format":"json-pages-1.0","id":"pages","title":"All Pages"}` + "\n"; !strings.HasPrefix(string(files["pages/pages.jsonl"]), want) ||
		!strings.Contains(string(files["pages/pages.jsonl"]), `"url":"https://a.example/","ts":"1970-01-01T00:00:10Z","title":"A <b>"}`) {
		t.Errorf("pages.jsonl: %s", files["pages/pages.jsonl"])
	}
	got := fmt.Sprint(capturesIn(t, files))
	if want := "[https://a.example/ 200 <title>A</title> https://a.example/new.css 200 body { } https://a.example/old.css 301 ]"; got != want {
		t.Errorf("captures %s, want %s", got, want)
	}
	var again bytes.Buffer
	waczOf(t, &again)
	if !bytes.Equal(out.Bytes(), again.Bytes()) {
		t.Error("the same captures gave other bytes")
	}
}

// unzipWACZ returns the files of a WACZ. WARC files must be stored as they are.
func unzipWACZ(t *testing.T, wacz []byte) map[string][]byte {
	t.Helper()
	z, err := zip.NewReader(bytes.NewReader(wacz), int64(len(wacz)))
	if err != nil {
		t.Fatal(err)
	}
	files := make(map[string][]byte)
	for _, f := range z.File {
		if strings.HasPrefix(f.Name, "archive/") && f.Method != zip.Store {
			t.Errorf("%s is compressed twice", f.Name)
		}
		r, err := f.Open()
		if err != nil {
			t.Fatal(err)
		}
		if files[f.Name], err = io.ReadAll(r); err != nil {
			t.Fatal(err)
		}
	}
	return files
}

// capturesIn finds the captures by the index.
func capturesIn(t *testing.T, files map[string][]byte) (list []string) {
	t.Helper()
	last := ""
	for line := range strings.Lines(string(files["indexes/index.cdxj"])) {
		if line <= last {
			t.Errorf("the index is not sorted: %s after %s", line, last)
		}
		last = line
		_, object, _ := strings.Cut(line, "{")
		var c struct {
			URL                      page.URL
			Offset, Length, Filename string
		}
		decode(t, []byte("{"+object), &c)
		from, _ := strconv.Atoi(c.Offset)
		length, _ := strconv.Atoi(c.Length)
		r := warc.NewReader(bytes.NewReader(files["archive/"+c.Filename][from:from+length]), "record", warc.Options{})
		n := 0
		for f, err := range r.Fetches() {
			if n++; err != nil || f.URL != c.URL || f.Err != "" {
				t.Errorf("at %d: %v %v", from, f, err)
			}
			list = append(list, fmt.Sprintf("%s %d %s", f.URL, f.Status, f.Body))
		}
		if n != 1 {
			t.Errorf("%d captures at %d", n, from)
		}
	}
	return list
}

// TestWACZOfReading: the reading of a document is a resource with HTML, and not the response of a
// server.
func TestWACZOfReading(t *testing.T) {
	var out bytes.Buffer
	z := NewWACZ(&out)
	f := fetchAt("https://a.example/plan.pdf", 10, "application/pdf", "<title>Plan</title>")
	f.Reading = page.Reading{Version: 1}
	if err := z.Add(f); err != nil {
		t.Fatal(err)
	}
	z.AddPage(f.URL, f.Time, "Plan")
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	files := unzipWACZ(t, out.Bytes())
	if got := capturesIn(t, files); !slices.Equal(got, []string{"https://a.example/plan.pdf 200 <title>Plan</title>"}) {
		t.Errorf("captures %q", got)
	}
	if index := string(files["indexes/index.cdxj"]); !strings.Contains(index, `"mime":"text/html"`) || !strings.Contains(index, `"status":"200"`) {
		t.Errorf("the index is %s", index)
	}
	types := make(map[string]int)
	r := warc.NewReader(bytes.NewReader(files["archive/data.warc.gz"]), "record", warc.Options{})
	for {
		rec, err := r.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		types[rec.Type]++
	}
	if types["resource"] != 1 || types["response"] != 0 {
		t.Errorf("records by type: %v", types)
	}
}

func decode(t *testing.T, b []byte, v any) {
	t.Helper()
	if err := json.Unmarshal(b, v); err != nil {
		t.Fatalf("%s: %v", b, err)
	}
}

var errNoSpace = errors.New("no space")

// narrow is a writer with a limit in bytes.
type narrow struct{ room int }

func (n *narrow) Write(b []byte) (int, error) {
	if n.room -= len(b); n.room < 0 {
		return 0, errNoSpace
	}
	return len(b), nil
}

func TestWACZFails(t *testing.T) {
	if err := NewWACZ(io.Discard).Close(); err == nil {
		t.Error("a WACZ without pages was written")
	}
	for _, room := range []int{0, 5000} {
		z := NewWACZ(&narrow{room})
		err := z.Add(fetchAt("https://a.example/", 1, "text/html", strings.Repeat("<p>a</p>", 10)))
		z.AddPage("https://a.example/", time.Unix(1, 0), "")
		for i := range 200 {
			u := page.URL(fmt.Sprintf("https://a.example/%d", i))
			err = errors.Join(err, z.Add(fetchAt(u, 1, "text/html", string(u))))
		}
		if err = errors.Join(err, z.Close()); !errors.Is(err, errNoSpace) {
			t.Errorf("with room for %d bytes: %v", room, err)
		}
	}
}
