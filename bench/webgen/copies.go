package webgen

import (
	"bytes"
	"context"
	"fmt"
	"hash/fnv"
	"net/http"
	"net/netip"
	"net/url"
	"strings"

	"golang.org/x/net/html"

	"github.com/webindexer/indexer/page"
)

// copier turns fetches of recorded sites into those of a copy: their hosts get other names
// in all places, and a quarter of the distinct words is replaced. A word gets the same
// replacement everywhere in a copy, so duplicates stay duplicates, and only the shortest
// pages equal one of the original.
type copier struct {
	number int
	hosts  map[string]string // by their names in lower case
}

func newCopier(number int, hosts []string) *copier {
	c := &copier{number: number, hosts: map[string]string{}}
	for _, h := range hosts {
		c.hosts[h] = copiedHost(h, number)
	}
	return c
}

// copiedHost gives a host another domain: www.site.org becomes www.site-copy1.org.
func copiedHost(host string, number int) string {
	suffix := fmt.Sprintf("-copy%d", number)
	dot := strings.LastIndexByte(host, '.')
	if _, err := netip.ParseAddr(host); err == nil || dot < 0 {
		return strings.NewReplacer(".", "-", ":", "-", "[", "", "]", "").Replace(host) + suffix + ".example"
	}
	return host[:dot] + suffix + host[dot:]
}

// hostsOf lists the hosts whose pages are in the files.
func hostsOf(ctx context.Context, files []string) ([]string, error) {
	seen := map[string]bool{}
	var list []string
	for _, file := range files {
		_, err := eachFetch(ctx, file, func(f *page.Fetch) error {
			u, err := url.Parse(string(f.URL))
			if err != nil {
				return err
			}
			if h := strings.ToLower(u.Hostname()); !seen[h] {
				seen[h] = true
				list = append(list, h)
			}
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	return list, nil
}

// rewrite makes a fetch one of the copy.
func (c *copier) rewrite(f *page.Fetch) {
	f.URL = page.URL(c.renameHosts([]byte(f.URL)))
	header := http.Header{}
	for name, values := range f.Header {
		switch http.CanonicalHeaderKey(name) {
		case "Content-Length", "Content-Encoding", "Transfer-Encoding": // the body is decoded
			continue
		}
		for _, v := range values {
			header[name] = append(header[name], string(c.renameHosts([]byte(v))))
		}
	}
	f.Header = header
	mediaType, _, _ := strings.Cut(header.Get("Content-Type"), ";")
	switch mediaType = strings.ToLower(strings.TrimSpace(mediaType)); mediaType {
	case "text/html", "application/xhtml+xml":
		f.Body = c.renameHosts(c.rewriteHTML(f.Body))
	case "text/plain":
		f.Body = c.renameHosts(c.replaceWords(bytes.Clone(f.Body)))
	}
}

// renameHosts replaces the names of hosts. A name ends at every byte that names of
// hosts do not have, so www.site.org is not taken for site.org.
func (c *copier) renameHosts(text []byte) []byte {
	var out bytes.Buffer
	out.Grow(len(text) + 64)
	for len(text) > 0 {
		n := 0
		for n < len(text) && isHostByte(text[n]) {
			n++
		}
		name := bytes.TrimRight(text[:n], ".") // the end of a sentence
		if other, ok := c.hosts[string(bytes.ToLower(name))]; ok {
			out.WriteString(other)
			out.Write(text[len(name):n])
		} else {
			out.Write(text[:n])
		}
		text = text[n:]
		for n = 0; n < len(text) && !isHostByte(text[n]); {
			n++
		}
		out.Write(text[:n])
		text = text[n:]
	}
	return out.Bytes()
}

func isHostByte(c byte) bool { return isLetter(c) || '0' <= c && c <= '9' || c == '-' || c == '.' }

func isLetter(c byte) bool { return 'a' <= c|0x20 && c|0x20 <= 'z' }

// rewriteHTML replaces words of the text of a document, and keeps markup, scripts and
// styles as they are.
func (c *copier) rewriteHTML(body []byte) []byte {
	out := make([]byte, 0, len(body))
	z := html.NewTokenizer(bytes.NewReader(body))
	for {
		switch t := z.Next(); t {
		case html.ErrorToken: // the end; the rest of a cut tag is not text
			return append(out, z.Raw()...)
		case html.TextToken:
			out = append(out, c.replaceWords(z.Raw())...)
		case html.StartTagToken:
			out = append(out, z.Raw()...)
			if name, _ := z.TagName(); string(name) == "script" || string(name) == "style" {
				z.Next() // its text, or its end at once
				out = append(out, z.Raw()...)
			}
		default:
			out = append(out, z.Raw()...)
		}
	}
}

// minWord is the length of the shortest words to replace. Shorter ones are mostly those
// by which a language is detected.
const minWord = 4

// replaceWords replaces words in text, in place. The words have only ASCII letters, and
// no letter of them is part of a character of another charset or of an entity.
func (c *copier) replaceWords(text []byte) []byte {
	if bytes.IndexByte(text, 0x1b) >= 0 {
		return text // ISO-2022-JP has letters as parts of other characters
	}
	for i := 0; i < len(text); i++ {
		if !isLetter(text[i]) {
			continue
		}
		from := i
		for i < len(text) && isLetter(text[i]) {
			i++
		}
		if from > 0 && (text[from-1] == '&' || text[from-1] >= 0x80 || isHostByte(text[from-1])) || i < len(text) && (text[i] >= 0x80 || isHostByte(text[i]) && text[i] != '.') {
			continue
		}
		if word := text[from:i]; len(word) >= minWord && c.replaces(word) {
			rotate(word, c.number)
		}
	}
	return text
}

// replaces draws a quarter of all words.
func (c *copier) replaces(word []byte) bool {
	h := fnv.New32a()
	_, _ = h.Write(bytes.ToLower(word)) // never fails
	return (h.Sum32()+uint32(c.number)*2654435761)>>16%4 == 0
}

// rotate replaces vowels by other vowels, and consonants by consonants: what comes out
// can be pronounced, and words that share their beginning still do.
func rotate(word []byte, by int) {
	const vowels, consonants = "aeiou", "bcdfghjklmnpqrstvwxyz"
	for i, c := range word {
		lower := c | 0x20
		for _, class := range [2]string{vowels, consonants} {
			if n := strings.IndexByte(class, lower); n >= 0 {
				word[i] = class[(n+by)%len(class)]&^0x20 | c&0x20 // the case stays
			}
		}
	}
}
