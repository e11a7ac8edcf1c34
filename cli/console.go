package cli

import (
	"io"
	"os"
	"strings"
	"sync"
	"unicode"

	"golang.org/x/term"
)

// console is standard error. While progress is shown, output passes through the progress
// display, so that the two do not mix.
type console struct {
	w    io.Writer
	mu   sync.Mutex
	over io.Writer
	last string // what sayLast keeps
}

// Write writes p, between two updates of the progress display if there is one.
func (c *console) Write(p []byte) (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.over != nil {
		return c.over.Write(p)
	}
	return c.w.Write(p)
}

// through sends further output through w; nil ends that.
func (c *console) through(w io.Writer) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.over = w
}

// sayLast writes text to w. If w is the console of this process, the text waits for endWith,
// because closing the data directory may have something to say as well, and may fail.
func sayLast(w io.Writer, text string) error {
	c, ok := w.(*console)
	if !ok {
		_, err := io.WriteString(w, text)
		return err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.last += text
	return nil
}

// endWith writes what sayLast has kept.
func (c *console) endWith() error {
	c.mu.Lock()
	text := c.last
	c.last = ""
	c.mu.Unlock()
	_, err := io.WriteString(c, text)
	return err
}

// terminal reports whether w is a terminal, and its width in columns.
func terminal(w io.Writer) (width int, ok bool) {
	f, isFile := w.(*os.File)
	if !isFile || !term.IsTerminal(int(f.Fd())) || os.Getenv("TERM") == "dumb" {
		return 0, false
	}
	width, _, err := term.GetSize(int(f.Fd()))
	return width, err == nil
}

// plain makes text from the web safe for a terminal: characters that could move the
// cursor, change colours or reverse the direction of text become spaces.
func plain(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r) || r == unicode.ReplacementChar || unicode.Is(unicode.Zl, r) || unicode.Is(unicode.Zp, r) {
			return ' '
		}
		return r
	}, s)
}

// style formats text on a terminal, and does nothing elsewhere.
type style struct{ on bool }

func styleFor(w io.Writer) style {
	_, tty := terminal(w)
	return style{on: tty && os.Getenv("NO_COLOR") == ""}
}

func (s style) code(c string) string {
	if !s.on {
		return ""
	}
	return "\x1b[" + c + "m"
}

func (s style) bold() string  { return s.code("1") }
func (s style) faint() string { return s.code("2") }
func (s style) reset() string { return s.code("0") }
