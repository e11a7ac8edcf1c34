package remote

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/webindexer/indexer/internal/control"
	"github.com/webindexer/indexer/page"
	"github.com/webindexer/indexer/repository"
	"github.com/webindexer/indexer/repository/inspect"
	"github.com/webindexer/indexer/repository/snapshot"
	"github.com/webindexer/indexer/web"
)

// webRequest is a request from a server to the process that holds the data directory.
type webRequest struct {
	Ask     string          `json:"ask"` // inspect, copy, versions, stats, text, picture, pictured, icons or icon
	URL     page.URL        `json:"url"`
	At      uint64          `json:"at"`
	Windows inspect.Windows `json:"windows"`
	Moment  snapshot.Moment `json:"moment,omitzero"` // for inspect

	Thumbnail bool       `json:"thumbnail,omitempty"` // for picture
	URLs      []page.URL `json:"urls,omitempty"`      // for pictured and icons
}

// webAnswer answers a webRequest. One field is set.
type webAnswer struct {
	Details  *web.Details          `json:"details,omitempty"`
	Copy     *page.Fetch           `json:"copy,omitempty"`
	NoCopy   string                `json:"no_copy,omitempty"`  // why there is none
	NotThen  string                `json:"not_then,omitempty"` // why the moment cannot be shown
	Versions []inspect.PageVersion `json:"versions,omitempty"`
	Stats    *repository.Stats     `json:"stats,omitempty"`
	Text     *inspect.PageText     `json:"text,omitempty"`
	Picture  []byte                `json:"picture,omitempty"`
	Pictured []page.URL            `json:"pictured,omitempty"`
	Icons    []inspect.SiteIcon    `json:"icons,omitempty"`
	Icon     []byte                `json:"icon,omitempty"`

	NoIcon       string `json:"no_icon,omitempty"`       // why there is none
	NoPicture    string `json:"no_picture,omitempty"`    // why there is none
	NotRendering bool   `json:"not_rendering,omitempty"` // there are no pictures at all
}

// AnswerInspector answers the Inspector of a server in another process.
func AnswerInspector(ctx context.Context, from web.Inspector, argument string, w io.Writer) error {
	var q webRequest
	if json.Unmarshal([]byte(argument), &q) != nil {
		return ErrRequest
	}
	var answer webAnswer
	var err error
	switch q.Ask {
	case "inspect":
		if answer.Details, err = from.Inspect(ctx, q.URL, q.Windows, q.Moment); errors.Is(err, web.ErrNotThen) {
			answer = webAnswer{NotThen: err.Error()}
			err = nil
		}
	case "copy":
		if answer.Copy, err = from.Copy(ctx, q.URL, q.At); errors.Is(err, inspect.ErrNoCopy) {
			answer.NoCopy, err = err.Error(), nil
		}
	case "versions":
		answer.Versions, err = from.Versions(ctx, q.URL)
	case "stats":
		answer.Stats, err = from.Stats(ctx)
	case "text":
		if answer.Text, err = from.Text(ctx, q.URL, q.At); errors.Is(err, inspect.ErrNoCopy) {
			answer, err = webAnswer{NoCopy: err.Error()}, nil
		}
	case "picture":
		if answer.Picture, err = from.Picture(ctx, q.URL, q.At, q.Thumbnail); errors.Is(err, inspect.ErrNoPicture) {
			answer, err = webAnswer{NoPicture: err.Error()}, nil
		}
	case "pictured":
		if answer.Pictured, err = from.Pictured(ctx, q.URLs); errors.Is(err, inspect.ErrNotRendering) {
			answer, err = webAnswer{NotRendering: true}, nil
		}
	case "icons":
		answer.Icons, err = from.Icons(ctx, q.URLs)
	case "icon":
		if answer.Icon, err = from.Icon(ctx, q.URL); errors.Is(err, inspect.ErrNoIcon) {
			answer, err = webAnswer{NoIcon: err.Error()}, nil
		}
	default:
		return fmt.Errorf("%w: %q", ErrRequest, q.Ask)
	}
	if err != nil {
		return err
	}
	return encode(w, &answer)
}

// Inspector is a web.Inspector that asks the process that holds the data directory. That
// process answers with AnswerInspector.
type Inspector struct{ Ask Ask }

var _ web.Inspector = Inspector{}

// maxWebAnswer bounds an answer, in bytes: the largest body, encoded as JSON.
const maxWebAnswer = 256 << 20

func (r Inspector) ask(ctx context.Context, q webRequest) (*webAnswer, error) {
	b, err := json.Marshal(q)
	if err != nil {
		return nil, fmt.Errorf("ask for details: %w", err)
	}
	out, said := &control.Buffer{Most: maxWebAnswer}, &control.Buffer{Most: maxSaid}
	done, err := r.Ask(ctx, string(b), out, said)
	switch {
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case errors.Is(err, control.ErrNobody), errors.Is(err, control.ErrRefused), errors.Is(err, control.ErrCutOff), errors.Is(err, control.ErrSilent), errors.Is(err, ErrReleased):
		return nil, fmt.Errorf("%w: %w", web.ErrElsewhere, err)
	case err != nil:
		return nil, err
	case !done:
		return nil, fmt.Errorf("%w: it says: %s", web.ErrElsewhere, strings.TrimSpace(said.String()))
	}
	a := new(webAnswer)
	if err := json.Unmarshal(out.Bytes(), a); err != nil {
		return nil, fmt.Errorf("%w: its answer cannot be read: %w", web.ErrElsewhere, err)
	}
	return a, nil
}

// errNoAnswer says that the answer does not match the request.
var errNoAnswer = fmt.Errorf("%w: it is a different version of indexer", web.ErrElsewhere)

func (r Inspector) Inspect(ctx context.Context, u page.URL, w inspect.Windows, at snapshot.Moment) (*web.Details, error) {
	a, err := r.ask(ctx, webRequest{Ask: "inspect", URL: u, Windows: w, Moment: at})
	switch {
	case err != nil:
		return nil, err
	case a.NotThen != "":
		return nil, fmt.Errorf("%w%s", web.ErrNotThen, strings.TrimPrefix(a.NotThen, web.ErrNotThen.Error()))
	case a.Details == nil || a.Details.Overview == nil || a.Details.Inspection == nil:
		return nil, errNoAnswer
	case !at.IsNow() && a.Details.AsOf == nil: // a version without moments has answered for now
		return nil, errNoAnswer
	}
	return a.Details, nil
}

func (r Inspector) Copy(ctx context.Context, u page.URL, at uint64) (*page.Fetch, error) {
	a, err := r.ask(ctx, webRequest{Ask: "copy", URL: u, At: at})
	switch {
	case err != nil:
		return nil, err
	case a.NoCopy != "":
		return nil, noCopy(a)
	case a.Copy == nil:
		return nil, errNoAnswer
	}
	return a.Copy, nil
}

func noCopy(a *webAnswer) error {
	return fmt.Errorf("%w%s", inspect.ErrNoCopy, strings.TrimPrefix(a.NoCopy, inspect.ErrNoCopy.Error()))
}

// Text implements web.Inspector.
func (r Inspector) Text(ctx context.Context, u page.URL, at uint64) (*inspect.PageText, error) {
	a, err := r.ask(ctx, webRequest{Ask: "text", URL: u, At: at})
	switch {
	case err != nil:
		return nil, err
	case a.NoCopy != "":
		return nil, noCopy(a)
	case a.Text == nil:
		return nil, errNoAnswer
	}
	return a.Text, nil
}

// Picture implements web.Inspector.
func (r Inspector) Picture(ctx context.Context, u page.URL, at uint64, thumbnail bool) ([]byte, error) {
	a, err := r.ask(ctx, webRequest{Ask: "picture", URL: u, At: at, Thumbnail: thumbnail})
	switch {
	case err != nil:
		return nil, err
	case a.NoPicture != "":
		return nil, fmt.Errorf("%w%s", inspect.ErrNoPicture, strings.TrimPrefix(a.NoPicture, inspect.ErrNoPicture.Error()))
	case len(a.Picture) == 0:
		return nil, errNoAnswer
	}
	return a.Picture, nil
}

// Pictured implements web.Inspector.
func (r Inspector) Pictured(ctx context.Context, urls []page.URL) ([]page.URL, error) {
	a, err := r.ask(ctx, webRequest{Ask: "pictured", URLs: urls})
	if err != nil {
		return nil, err
	}
	switch {
	case a.NotRendering:
		return nil, inspect.ErrNotRendering
	case a.Pictured == nil:
		a.Pictured = []page.URL{}
	}
	return a.Pictured, nil
}

// Icons implements web.Inspector.
func (r Inspector) Icons(ctx context.Context, urls []page.URL) ([]inspect.SiteIcon, error) {
	a, err := r.ask(ctx, webRequest{Ask: "icons", URLs: urls})
	switch {
	case err != nil:
		return nil, err
	case len(a.Icons) != len(urls):
		return nil, errNoAnswer
	}
	return a.Icons, nil
}

// Icon implements web.Inspector.
func (r Inspector) Icon(ctx context.Context, u page.URL) ([]byte, error) {
	a, err := r.ask(ctx, webRequest{Ask: "icon", URL: u})
	switch {
	case err != nil:
		return nil, err
	case a.NoIcon != "":
		before, _, _ := strings.Cut(a.NoIcon, inspect.ErrNoIcon.Error())
		return nil, fmt.Errorf("%s%w", before, inspect.ErrNoIcon)
	case len(a.Icon) == 0:
		return nil, errNoAnswer
	}
	return a.Icon, nil
}

func (r Inspector) Versions(ctx context.Context, u page.URL) ([]inspect.PageVersion, error) {
	a, err := r.ask(ctx, webRequest{Ask: "versions", URL: u})
	if err != nil {
		return nil, err
	}
	if a.Versions == nil {
		a.Versions = []inspect.PageVersion{}
	}
	return a.Versions, nil
}

func (r Inspector) Stats(ctx context.Context) (*repository.Stats, error) {
	a, err := r.ask(ctx, webRequest{Ask: "stats"})
	if err == nil && a.Stats == nil {
		err = errNoAnswer
	}
	if err != nil {
		return nil, err
	}
	return a.Stats, nil
}
