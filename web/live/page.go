package live

import (
	"bytes"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"fmt"
	"html/template"
	"net/http"
	"path"
	"strings"
	"time"

	"go.uber.org/zap"

	"github.com/webindexer/indexer/web/assets"
)

//go:embed templates/status.html
var templates embed.FS

//go:embed files
var files embed.FS

// filePrefix is where the page's own files are served.
const filePrefix = "/status/files/"

var fileTypes = map[string]string{".css": "text/css; charset=utf-8", ".js": "text/javascript; charset=utf-8"}

// file serves one of the page's own files.
func file(w http.ResponseWriter, r *http.Request) {
	name := strings.TrimPrefix(r.URL.Path, filePrefix)
	b, err := files.ReadFile("files/" + name)
	mediaType := fileTypes[path.Ext(name)]
	if err != nil || mediaType == "" {
		http.NotFound(w, r)
		return
	}
	w.Header().Set("Content-Type", mediaType)
	w.Header().Set("ETag", `"`+digest(b)+`"`)
	w.Header().Set("Cache-Control", "no-cache")
	http.ServeContent(w, r, name, time.Time{}, bytes.NewReader(b))
}

func digest(b []byte) string {
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:6])
}

// fileURL returns the URL of a file, which changes with its content.
func fileURL(name string) (string, error) {
	b, err := files.ReadFile("files/" + name)
	if err != nil {
		return "", fmt.Errorf("web/live: %w", err)
	}
	return filePrefix + name + "?v=" + digest(b), nil
}

type statusPage struct{ template *template.Template }

func newStatusPage() (*statusPage, error) {
	t, err := assets.Layout()
	if err != nil {
		return nil, err
	}
	t, err = t.Funcs(template.FuncMap{
		"file":  fileURL,
		"key":   func(observer, name string) string { return "o/" + observer + "/" + name },
		"width": func(f float64) string { return fmt.Sprintf("%.1f", f) },
	}).ParseFS(templates, "templates/status.html")
	if err != nil {
		return nil, fmt.Errorf("web/live: template: %w", err)
	}
	return &statusPage{t}, nil
}

// shownPage is the data of the template.
type shownPage struct {
	assets.Frame
	view
	Stages []stage
}

// slowAge is the maximum age of figures that cost a scan when a page is opened.
const slowAge = 10 * time.Second

func (l *Live) status(w http.ResponseWriter, r *http.Request) {
	l.monitor.refresh(r.Context(), slowAge)
	v := l.monitor.view()
	var b bytes.Buffer
	p := shownPage{Frame: assets.Frame{Nav: "status", Live: true, Notes: v.Noted}, view: v, Stages: v.stages}
	if err := l.page.template.ExecuteTemplate(&b, "layout", p); err != nil {
		l.opts.Log.Error("cannot render the status page", zap.Error(err))
		say(w, http.StatusInternalServerError, "internal error; see the server's log for details")
		return
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	_, err := w.Write(b.Bytes())
	_ = err // the client has gone
}
