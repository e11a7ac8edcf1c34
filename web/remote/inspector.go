package remote

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
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
	Versions []inspect.PageVersion `json:"versions,omitempty"`
	Stats    *repository.Stats     `json:"stats,omitempty"`
	Text     *inspect.PageText     `json:"text,omitempty"`
	Picture  []byte                `json:"picture,omitempty"`
	Pictured []page.URL            `json:"pictured,omitempty"`
	Icons    []inspect.SiteIcon    `json:"icons,omitempty"`
	Icon     []byte                `json:"icon,omitempty"`

	// Errors that a server expects.
	NotThen      string `json:"not_then,omitempty"` // why the moment cannot be shown
	NoCopy       string `json:"no_copy,omitempty"`  // why there is none
	NoPicture    string `json:"no_picture,omitempty"`
	NoIcon       string `json:"no_icon,omitempty"`
	NotRendering bool   `json:"not_rendering,omitempty"` // there are no pictures at all
}

// AnswerInspector answers the Inspector of a server in another process.
func AnswerInspector(ctx context.Context, from web.Inspector, argument string, w io.Writer) error {
	var q webRequest
	if json.Unmarshal([]byte(argument), &q) != nil {
		return ErrRequest
	}
	answer, err := answerTo(ctx, from, q)
	if err != nil {
		refusal, expected := refusalOf(err)
		if !expected {
			return err
		}
		answer = refusal
	}
	return encode(w, &answer)
}

func answerTo(ctx context.Context, from web.Inspector, q webRequest) (a webAnswer, err error) {
	switch q.Ask {
	case "inspect":
		a.Details, err = from.Inspect(ctx, q.URL, q.Windows, q.Moment)
	case "copy":
		a.Copy, err = from.Copy(ctx, q.URL, q.At)
	case "versions":
		a.Versions, err = from.Versions(ctx, q.URL)
	case "stats":
		a.Stats, err = from.Stats(ctx)
	case "text":
		a.Text, err = from.Text(ctx, q.URL, q.At)
	case "picture":
		a.Picture, err = from.Picture(ctx, q.URL, q.At, q.Thumbnail)
	case "pictured":
		a.Pictured, err = from.Pictured(ctx, q.URLs)
	case "icons":
		a.Icons, err = from.Icons(ctx, q.URLs)
	case "icon":
		a.Icon, err = from.Icon(ctx, q.URL)
	default:
		err = fmt.Errorf("%w: %q", ErrRequest, q.Ask)
	}
	return a, err
}

// refusalOf returns the answer that stands for an error which web.Inspector documents; ok is
// false for all other errors.
func refusalOf(err error) (a webAnswer, ok bool) {
	switch {
	case errors.Is(err, web.ErrNotThen):
		a.NotThen = err.Error()
	case errors.Is(err, inspect.ErrNoCopy):
		a.NoCopy = err.Error()
	case errors.Is(err, inspect.ErrNoPicture):
		a.NoPicture = err.Error()
	case errors.Is(err, inspect.ErrNoIcon):
		a.NoIcon = err.Error()
	case errors.Is(err, inspect.ErrNotRendering):
		a.NotRendering = true
	default:
		return a, false
	}
	return a, true
}

// refusal returns the error for which an answer stands; nil if it stands for none.
func (a *webAnswer) refusal() error {
	switch {
	case a.NotThen != "":
		return wrapped(web.ErrNotThen, a.NotThen)
	case a.NoCopy != "":
		return wrapped(inspect.ErrNoCopy, a.NoCopy)
	case a.NoPicture != "":
		return wrapped(inspect.ErrNoPicture, a.NoPicture)
	case a.NoIcon != "":
		return wrapped(inspect.ErrNoIcon, a.NoIcon)
	case a.NotRendering:
		return inspect.ErrNotRendering
	}
	return nil
}

// wrapped returns an error that matches kind, with a text that contains that of kind.
func wrapped(kind error, text string) error {
	before, after, _ := strings.Cut(text, kind.Error())
	return fmt.Errorf("%s%w%s", before, kind, after)
}

// Inspector is a web.Inspector that asks the process that holds the data directory. That
// process answers with AnswerInspector.
type Inspector struct{ Ask Ask }

var _ web.Inspector = Inspector{}

// maxWebAnswer bounds an answer, in bytes: the largest body, encoded as JSON.
const maxWebAnswer = 256 << 20

// errNoAnswer says that the answer does not match the request.
var errNoAnswer = fmt.Errorf("%w: it is a different version of indexer", web.ErrElsewhere)

// notAnswered are the errors for which the other process is to blame.
var notAnswered = []error{control.ErrNobody, control.ErrRefused, control.ErrCutOff, control.ErrSilent, ErrReleased, errSays, errUnreadable}

// ask returns an answer that matches the request, or the error for which the answer stands.
func (r Inspector) ask(ctx context.Context, q webRequest, matches func(*webAnswer) bool) (a webAnswer, err error) {
	err = r.Ask.exchange(ctx, q, maxWebAnswer, &a)
	isOf := func(kind error) bool { return errors.Is(err, kind) }
	switch {
	case ctx.Err() != nil:
		return webAnswer{}, ctx.Err()
	case slices.ContainsFunc(notAnswered, isOf):
		return webAnswer{}, fmt.Errorf("%w: %w", web.ErrElsewhere, err)
	case err != nil:
		return webAnswer{}, err
	}
	if err := a.refusal(); err != nil {
		return webAnswer{}, err
	}
	if !matches(&a) {
		return webAnswer{}, errNoAnswer
	}
	return a, nil
}

// Inspect implements web.Inspector.
func (r Inspector) Inspect(ctx context.Context, u page.URL, w inspect.Windows, at snapshot.Moment) (*web.Details, error) {
	a, err := r.ask(ctx, webRequest{Ask: "inspect", URL: u, Windows: w, Moment: at}, func(a *webAnswer) bool {
		complete := a.Details != nil && a.Details.Overview != nil && a.Details.Inspection != nil
		return complete && (at.IsNow() || a.Details.AsOf != nil) // a version without moments answers for now
	})
	return a.Details, err
}

// Copy implements web.Inspector.
func (r Inspector) Copy(ctx context.Context, u page.URL, at uint64) (*page.Fetch, error) {
	a, err := r.ask(ctx, webRequest{Ask: "copy", URL: u, At: at}, func(a *webAnswer) bool { return a.Copy != nil })
	return a.Copy, err
}

// Versions implements web.Inspector.
func (r Inspector) Versions(ctx context.Context, u page.URL) ([]inspect.PageVersion, error) {
	a, err := r.ask(ctx, webRequest{Ask: "versions", URL: u}, mayBeEmpty)
	if err == nil && a.Versions == nil {
		a.Versions = []inspect.PageVersion{}
	}
	return a.Versions, err
}

// mayBeEmpty accepts an empty list, which an answer leaves out.
func mayBeEmpty(*webAnswer) bool { return true }

// Stats implements web.Inspector.
func (r Inspector) Stats(ctx context.Context) (*repository.Stats, error) {
	a, err := r.ask(ctx, webRequest{Ask: "stats"}, func(a *webAnswer) bool { return a.Stats != nil })
	return a.Stats, err
}

// Text implements web.Inspector.
func (r Inspector) Text(ctx context.Context, u page.URL, at uint64) (*inspect.PageText, error) {
	a, err := r.ask(ctx, webRequest{Ask: "text", URL: u, At: at}, func(a *webAnswer) bool { return a.Text != nil })
	return a.Text, err
}

// Picture implements web.Inspector.
func (r Inspector) Picture(ctx context.Context, u page.URL, at uint64, thumbnail bool) ([]byte, error) {
	q := webRequest{Ask: "picture", URL: u, At: at, Thumbnail: thumbnail}
	a, err := r.ask(ctx, q, func(a *webAnswer) bool { return len(a.Picture) > 0 })
	return a.Picture, err
}

// Pictured implements web.Inspector.
func (r Inspector) Pictured(ctx context.Context, urls []page.URL) ([]page.URL, error) {
	a, err := r.ask(ctx, webRequest{Ask: "pictured", URLs: urls}, mayBeEmpty)
	if err == nil && a.Pictured == nil {
		a.Pictured = []page.URL{}
	}
	return a.Pictured, err
}

// Icons implements web.Inspector.
func (r Inspector) Icons(ctx context.Context, urls []page.URL) ([]inspect.SiteIcon, error) {
	a, err := r.ask(ctx, webRequest{Ask: "icons", URLs: urls}, func(a *webAnswer) bool { return len(a.Icons) == len(urls) })
	return a.Icons, err
}

// Icon implements web.Inspector.
func (r Inspector) Icon(ctx context.Context, u page.URL) ([]byte, error) {
	a, err := r.ask(ctx, webRequest{Ask: "icon", URL: u}, func(a *webAnswer) bool { return len(a.Icon) > 0 })
	return a.Icon, err
}
