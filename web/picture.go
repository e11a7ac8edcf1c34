package web

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"time"

	"github.com/webindexer/indexer/page"
	"github.com/webindexer/indexer/repository/inspect"
)

// A screenshot is a picture that our own browser has made of a stranger's page. It is harmless
// as long as browsers treat it as a picture. So the server sends it with the media type that its
// bytes show, nosniff, and a policy that forbids everything.
const picturePolicy = "sandbox; default-src 'none'; frame-ancestors 'none'"

// pictureTypes are the types of pictures that are sent.
var pictureTypes = []string{"image/webp", "image/jpeg", "image/png"}

// picture sends the screenshot of a page, or its thumbnail.
func (s *Server) picture(w http.ResponseWriter, r *http.Request) error {
	params := r.URL.Query()
	u, err := urlOf(params)
	if err != nil {
		return err
	}
	at, err := timestampOf(params, "at")
	if err != nil {
		return err
	}
	view := params.Get("view")
	if view != "" && view != thumbnailView {
		return badRequest("the parameter view must be " + thumbnailView + ", or absent")
	}
	image, err := s.readPicture(r.Context(), u, at, view == thumbnailView)
	if errors.Is(err, inspect.ErrNoPicture) {
		return &requestError{http.StatusNotFound, "there is no stored screenshot of this URL"}
	}
	if err != nil {
		return fmt.Errorf("screenshot of %s: %w", u, err)
	}
	mediaType := http.DetectContentType(image)
	if !slices.Contains(pictureTypes, mediaType) {
		return fmt.Errorf("screenshot of %s: it is %s, not a picture", u, mediaType)
	}
	sendImage(w, r, mediaType, image, versionOf(image), "private, no-cache") // browsers ask again, and usually get 304
	return nil
}

// versionOf returns the first digits of an image's digest.
func versionOf(image []byte) string {
	sum := sha256.Sum256(image)
	return hex.EncodeToString(sum[:12])
}

// sendImage sends a version of an image, whose media type was recognised in its bytes.
func sendImage(w http.ResponseWriter, r *http.Request, mediaType string, image []byte, version, cacheControl string) {
	h := w.Header()
	h.Set("Content-Type", mediaType)
	h.Set("Content-Security-Policy", picturePolicy)
	h.Set("Cache-Control", cacheControl)
	h.Set("ETag", `"`+version+`"`)
	http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(image))
}

// readPicture reads a picture from the index, if it has it, or else from the store. A server
// that has only index files shows their thumbnails.
func (s *Server) readPicture(ctx context.Context, u page.URL, at uint64, thumbnail bool) ([]byte, error) {
	if t, ok := s.opts.Search.(Thumbnails); ok && thumbnail && at == 0 {
		image, err := t.Thumbnail(ctx, u)
		if err != nil || image != nil {
			return image, err
		}
	}
	return s.opts.Inspect.Picture(ctx, u, at, thumbnail)
}

const thumbnailView = "thumbnail"

func pictureLink(u page.URL, at uint64) string { return address("/screenshot", u, at, "") }

func thumbnailLink(u page.URL) string { return address("/screenshot", u, 0, thumbnailView) }

// Thumbnails decorate results. They may delay a search by no more than pictureTimeout. If
// they are unavailable, or pages are not rendered, the server does not ask again for
// pictureRest.
const (
	pictureTimeout = 300 * time.Millisecond
	pictureRest    = 10 * time.Second
)

// showThumbnails gives a thumbnail to each result that has one. Index files have them. For
// another index, the store is asked.
func (s *Server) showThumbnails(ctx context.Context, hits []hitView) {
	if len(hits) == 0 || time.Now().UnixNano() < s.unpictured.Load() {
		return
	}
	limited, cancel := context.WithTimeout(ctx, pictureTimeout)
	defer cancel()
	urls := make([]page.URL, 0, len(hits))
	for _, h := range hits {
		urls = append(urls, h.Hit.URL)
	}
	ask := s.opts.Inspect.Pictured
	if t, ok := s.opts.Search.(Thumbnails); ok {
		ask = t.Pictured
	}
	pictured, err := ask(limited, urls)
	if err != nil {
		s.opts.Log.Debug("results have no thumbnails: " + err.Error())
		if ctx.Err() == nil { // otherwise the visitor has left, which says nothing about the pictures
			s.unpictured.Store(time.Now().Add(pictureRest).UnixNano())
		}
		return
	}
	for i := range hits {
		if slices.Contains(pictured, hits[i].Hit.URL) {
			hits[i].Thumbnail = thumbnailLink(hits[i].Hit.URL)
		}
	}
}
