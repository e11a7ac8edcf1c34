package webtest

import (
	"fmt"
	"image/color"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/webindexer/indexer/page"
	"github.com/webindexer/indexer/page/icon/icontest"
)

// ParseFetch reads a fetch of a test specification:
//
//	URL at=SECONDS WHAT [text=WORD] [title=WORD] [lang=TAG] [canonical=URL]
//	    [link=URL,ANCHOR]... [noindex] [nofollow] [template=WORD] [bytes=WORD]
//
// WHAT is one of page, redirect=URL, refresh=URL, gone, failed, error, other,
// icon=GREY, image=GREY, robots, revisit. URLs without a scheme are https. The text of a page is its WORD
// many times, or once with text=WORD!; anchors are not part of it. bytes=WORD is a comment in the HTML.
func ParseFetch(line string) (*page.Fetch, error) {
	words := strings.Fields(line)
	if len(words) == 0 {
		return nil, fmt.Errorf("fetch: the line is empty")
	}
	u, err := Long(words[0])
	if err != nil {
		return nil, err
	}
	f := &page.Fetch{URL: u, Time: epoch, Status: http.StatusOK, Header: make(http.Header)}
	s := script{fetch: f, text: "word"}
	for _, w := range words[1:] {
		if err := s.word(w); err != nil {
			return nil, fmt.Errorf("fetch %q: %s: %w", line, w, err)
		}
	}
	if s.isPage {
		f.Header.Set("Content-Type", "text/html")
		f.Body = []byte("<html lang=" + s.lang + ">" + s.head + s.paragraph() + s.links)
	}
	return f, nil
}

type script struct {
	fetch                   *page.Fetch
	isPage                  bool
	text, lang, head, links string
}

func (s *script) paragraph() string {
	if once, ok := strings.CutSuffix(s.text, "!"); ok {
		return "<p>" + once
	}
	return "<p>" + strings.Repeat(s.text+" ", 64)
}

func (s *script) word(w string) error {
	name, value, _ := strings.Cut(w, "=")
	f := s.fetch
	var err error
	switch name {
	case "at":
		var n float64
		if n, err = strconv.ParseFloat(value, 64); err == nil {
			f.Time = epoch.Add(time.Duration(n * float64(time.Second)))
		}
	case "page":
		s.isPage = true
	case "gone":
		f.Status = http.StatusGone
	case "failed":
		f.Status = http.StatusInternalServerError
	case "error":
		f.Status, f.Err = 0, "connection reset"
	case "other":
		f.Header.Set("Content-Type", "image/png")
		f.Body = []byte("\x89PNG" + value)
	case "icon", "image":
		err = s.icon(name, value)
	case "revisit":
		f.Revisit = true
	case "redirect", "refresh", "canonical", "link", "frame":
		err = s.lead(name, value)
	default:
		err = s.content(name, value)
	}
	return err
}

// icon makes the body an ICO or PNG file with a grey square.
func (s *script) icon(name, grey string) error {
	n, err := strconv.ParseUint(grey, 10, 8)
	c := color.Gray{Y: uint8(n)}
	if name == "image" {
		s.fetch.Header.Set("Content-Type", "image/png")
		s.fetch.Body = icontest.PNG(16, c)
		return err
	}
	s.fetch.Header.Set("Content-Type", "image/x-icon")
	s.fetch.Body = icontest.ICO(icontest.Bitmap(16, c))
	return err
}

func (s *script) lead(name, value string) error {
	value, anchor, _ := strings.Cut(value, ",")
	u, err := Long(value)
	if err != nil {
		return err
	}
	switch name {
	case "redirect":
		s.fetch.Status = http.StatusFound
		s.fetch.Header.Set("Location", string(u))
	case "refresh":
		s.isPage = true
		s.head += fmt.Sprintf("<meta http-equiv=refresh content='0; url=%s'>", u)
	case "canonical":
		s.head += fmt.Sprintf("<link rel=canonical href=%q>", u)
	case "link":
		s.links += fmt.Sprintf("<area href=%q alt=%q>", u, anchor)
	case "frame":
		s.links += fmt.Sprintf("<iframe src=%q></iframe>", u)
	}
	return nil
}

func (s *script) content(name, value string) error {
	switch name {
	case "text":
		s.text = value
	case "lang":
		s.lang = value
	case "title", "template":
		s.head += fmt.Sprintf("<%s>%s</%s>", name, value, name)
	case "bytes":
		s.links += "<!--" + value + "-->"
	case "noindex", "nofollow":
		s.fetch.Header.Add("X-Robots-Tag", name)
	default:
		return fmt.Errorf("unknown word")
	}
	return nil
}

// Long adds the scheme that specifications leave out.
func Long(s string) (page.URL, error) {
	if !strings.Contains(s, ":") {
		s = "https://" + s
	}
	return page.ParseURL(s)
}

// Short removes it.
func Short(u page.URL) string {
	return strings.TrimPrefix(string(u), "https://")
}
