package webgen

import (
	"context"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"strings"
	"time"

	"github.com/webindexer/indexer/page"
	"github.com/webindexer/indexer/warc"
)

// Tree is a directory of HTML files, as a manual is installed, and the URL at which a server
// would have it.
type Tree struct {
	URL *url.URL // with a path that ends with a slash
	Dir string
}

// ParseTree reads "URL=DIRECTORY".
func ParseTree(text string) (t Tree, err error) {
	// A URL can contain "=" only in a query, which is none of the base of a tree.
	at, dir, found := strings.Cut(text, "=")
	if t.URL, err = url.Parse(at); err != nil || !found || dir == "" {
		return t, fmt.Errorf("%q is no URL=DIRECTORY", text)
	}
	if t.URL.Scheme != "http" && t.URL.Scheme != "https" || t.URL.Host == "" || t.URL.RawQuery != "" || t.URL.Fragment != "" || !strings.HasSuffix(t.URL.Path, "/") {
		return t, fmt.Errorf("%q: want an http or https URL that ends with a slash, without a query or a fragment", at)
	}
	if t.Dir, err = filepath.EvalSymlinks(dir); err != nil {
		return t, err
	}
	if info, err := os.Stat(t.Dir); err != nil || !info.IsDir() {
		return t, fmt.Errorf("%s is no directory", dir)
	}
	return t, nil
}

// Trees writes the HTML files of each tree into a WARC file in dir, as if they had been fetched a
// second apart, in the order of their paths.
func Trees(ctx context.Context, dir string, trees []Tree, log io.Writer) (*Result, error) {
	var jobs []job
	for i, t := range trees {
		jobs = append(jobs, job{
			path:  filepath.Join(dir, fmt.Sprintf("%02d-%s.warc.gz", i+1, t.URL.Hostname())),
			write: t.write,
		})
	}
	return writeAll(ctx, dir, jobs, log)
}

func (t *Tree) write(ctx context.Context, f *warc.File) (n int, err error) {
	files := os.DirFS(t.Dir)
	err = fs.WalkDir(files, ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || !entry.Type().IsRegular() || path.Ext(name) != ".html" && path.Ext(name) != ".htm" {
			return err
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		body, err := fs.ReadFile(files, name)
		if err != nil {
			return err
		}
		n++
		return f.WriteFetch(&page.Fetch{
			URL: t.urlOf(name), Time: began.Add(time.Duration(n) * time.Second), Status: http.StatusOK,
			Header: http.Header{"Content-Type": {"text/html"}}, Body: body,
		})
	})
	return n, err
}

// urlOf is the URL of a file, or of its directory if it is the index of that.
func (t *Tree) urlOf(name string) page.URL {
	if name == "index.html" || strings.HasSuffix(name, "/index.html") {
		name = strings.TrimSuffix(name, "index.html")
	}
	u := *t.URL
	u.Path += name
	return page.URL(u.String())
}
