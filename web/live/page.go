package live

import (
	"bytes"
	"embed"
	"fmt"
	"html/template"
	"net/http"
	"time"

	"go.uber.org/zap"

	"github.com/webindexer/indexer/web/assets"
)

//go:embed templates/status.html
var templates embed.FS

//go:embed files
var embedded embed.FS

// filePrefix is where the page's own files are served.
const filePrefix = "/status/files/"

var files = assets.NewFiles(filePrefix, embedded)

type statusPage struct{ template *template.Template }

func newStatusPage() (*statusPage, error) {
	t, err := assets.Layout()
	if err != nil {
		return nil, err
	}
	t, err = t.Funcs(template.FuncMap{
		"file":  files.URL,
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

func (l *Live) status(w http.ResponseWriter, _ *http.Request) {
	l.monitor.refresh(slowAge)
	v := l.monitor.view()
	var b bytes.Buffer
	p := shownPage{Frame: assets.Frame{Nav: "status", Live: true, Notes: v.Noted}, view: v, Stages: v.stages}
	if err := l.page.template.ExecuteTemplate(&b, "layout", p); err != nil {
		l.opts.Log.Error("cannot render the status page", zap.Error(err))
		say(w, http.StatusInternalServerError, "internal error; see the server's log for details")
		return
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	_, _ = w.Write(b.Bytes()) // if it fails, the client has gone
}
