package sitemap

import (
	"bufio"
	"fmt"
	"io"
	"regexp"

	"github.com/klauspost/compress/gzip"
	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/htmlindex"
	"golang.org/x/text/encoding/unicode"
	"golang.org/x/text/transform"
)

// maxToken is the length in bytes of a tag, or of a text between tags. The XML decoder
// holds one token in memory, whatever its size; the articles of a full-text feed are
// well below.
const maxToken = 2 << 20

// input is a file's text: decompressed, in valid UTF-8, without byte order mark, with
// control characters replaced by spaces (XML forbids them, feeds have them). Its size
// is bounded, in total and from each call of newToken to the next.
type input struct {
	r     *bufio.Reader
	token int // bytes left for this token
}

func newInput(r io.Reader) (*input, error) {
	raw := bufio.NewReader(r)
	plain, err := gunzip(raw)
	if err != nil {
		return nil, err
	}
	text := bufio.NewReader(&sizeLimit{r: plain, left: MaxSize})
	decoder := unicode.BOMOverride(declaredEncoding(text).NewDecoder())
	in := &input{r: bufio.NewReader(transform.NewReader(text, decoder))}
	in.newToken()
	return in, nil
}

// gunzip decompresses data that begins like gzip, whatever its name or media type.
func gunzip(r *bufio.Reader) (io.Reader, error) {
	if magic, _ := r.Peek(2); string(magic) != "\x1f\x8b" {
		return r, nil // reading returns an error of r again
	}
	z, err := gzip.NewReader(r)
	if err != nil {
		return nil, fmt.Errorf("gzip header: %w", err)
	}
	return z, nil
}

var xmlEncoding = regexp.MustCompile(`^\s*<\?xml[^>]*\sencoding\s*=\s*["']([A-Za-z0-9._:-]+)["']`)

// declaredEncoding is the encoding of the XML declaration; UTF-8 if it names no known
// one. A declaration that can be read byte by byte is not in UTF-16, whatever it says
// (the Encoding standard treats <meta> alike).
func declaredEncoding(r *bufio.Reader) encoding.Encoding {
	head, _ := r.Peek(256)
	if m := xmlEncoding.FindSubmatch(head); m != nil {
		if e, err := htmlindex.Get(string(m[1])); err == nil {
			if name, err := htmlindex.Name(e); err == nil && name != "utf-16be" && name != "utf-16le" && name != "replacement" {
				return e
			}
		}
	}
	return unicode.UTF8
}

// newToken begins a token, with all of maxToken available.
func (in *input) newToken() { in.token = maxToken }

// ReadByte makes input an io.ByteReader, so that the XML decoder adds no buffer of its
// own, and the count of a token is exact.
func (in *input) ReadByte() (byte, error) {
	if in.token == 0 {
		return 0, errToken
	}
	in.token--
	b, err := in.r.ReadByte()
	if err == nil && b < ' ' && b != '\n' && b != '\t' && b != '\r' {
		b = ' '
	}
	return b, err
}

// Read satisfies xml.NewDecoder's signature; the decoder uses ReadByte.
func (in *input) Read(p []byte) (int, error) {
	if len(p) == 0 {
		return 0, nil
	}
	b, err := in.ReadByte()
	if err != nil {
		return 0, err
	}
	p[0] = b
	return 1, nil
}

// firstByte returns the first byte that is not white space, without consuming it.
func (in *input) firstByte() (byte, error) {
	for n := 1; n <= 1024; n++ {
		head, err := in.r.Peek(n)
		if len(head) < n {
			return 0, err
		}
		if b := head[n-1]; b > ' ' {
			return b, nil
		}
	}
	return ' ', nil // much white space: the text reader skips any amount
}

// sizeLimit fails with errTooLarge after left bytes. It does not return io.EOF, because
// a truncated file must not look complete.
type sizeLimit struct {
	r    io.Reader
	left int64
}

func (l *sizeLimit) Read(p []byte) (int, error) {
	if l.left <= 0 {
		if n, err := l.r.Read(p[:1]); n == 0 {
			return 0, err
		}
		return 0, errTooLarge
	}
	if int64(len(p)) > l.left {
		p = p[:l.left]
	}
	n, err := l.r.Read(p)
	l.left -= int64(n)
	return n, err
}
