package office

import (
	"archive/zip"
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"path"
	"strings"

	"golang.org/x/text/encoding/unicode"
	"golang.org/x/text/transform"
)

// archive is an open document.
type archive struct {
	files  map[string]*zip.File
	packed uint64 // compressed bytes that may still be read
	left   int    // bytes of XML that may still be read
	tokens int    // tags and texts that may still be read
	out    *writer
}

// openArchive reads the directory of the archive. It counts the entries before it parses
// them, because archive/zip keeps all of them, whatever number the directory announces.
func openArchive(body []byte, out *writer, b bounds) (*archive, error) {
	if bytes.HasPrefix(body, []byte("\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1")) {
		// An encrypted document of ISO/IEC 29500 is a compound file with the archive in it.
		return nil, fmt.Errorf("%w, or in a format of before 2007", ErrEncrypted)
	}
	if n := bytes.Count(body, []byte("PK\x01\x02")); n > maxEntries {
		return nil, fmt.Errorf("%w: it consists of %d files", ErrDamaged, n)
	}
	r, err := zip.NewReader(bytes.NewReader(body), int64(len(body)))
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrDamaged, err)
	}
	a := &archive{files: make(map[string]*zip.File, len(r.File)), packed: uint64(len(body)), left: b.xml, tokens: b.tokens, out: out}
	for _, f := range r.File {
		// Of two files with one name, the first counts.
		if name := strings.ToLower(f.Name); a.files[name] == nil {
			a.files[name] = f
		}
	}
	return a, nil
}

// has reports whether the archive has a file.
func (a *archive) has(name string) bool { return a.files[strings.ToLower(name)] != nil }

// handler gets the elements and texts of an XML file. An element that it does not want is
// skipped with all that is in it, and does not end.
type handler interface {
	start(e *element) (want bool)
	end(name string)
	text(s string)
}

// startsOnly is embedded in handlers to which only start tags matter.
type startsOnly struct{}

func (startsOnly) end(string)  {}
func (startsOnly) text(string) {}

// element is a start tag. Its name has no prefix: the formats are known by their local names,
// and the two editions of ISO/IEC 29500 have different namespaces for the same.
type element struct {
	name  string
	attrs []xml.Attr
}

// attr returns the attribute with a local name, "" if there is none.
func (e *element) attr(name string) string {
	for _, a := range e.attrs {
		if a.Name.Local == name && !strings.HasSuffix(a.Name.Space, "/relationships") {
			return a.Value
		}
	}
	return ""
}

// isTrue and isFalse read an attribute of ISO/IEC 29500 that says yes or no.
func isTrue(v string) bool  { return v == "1" || v == "true" }
func isFalse(v string) bool { return v == "0" || v == "false" }

// relation returns the identifier of a relation (r:id), "" if there is none.
func (e *element) relation() string {
	for _, a := range e.attrs {
		if a.Name.Local == "id" && strings.HasSuffix(a.Name.Space, "/relationships") {
			return a.Value
		}
	}
	return ""
}

// read passes an XML file to a handler. It returns errFull at a bound, and an error that wraps
// ErrDamaged if the file is missing or damaged.
func (a *archive) read(name string, h handler) error {
	f := a.files[strings.ToLower(name)]
	if f == nil {
		return fmt.Errorf("%w: it has no file %s", ErrDamaged, name)
	}
	if f.Flags&1 != 0 {
		return ErrEncrypted
	}
	// Megabytes of compressed data may hold no XML at all, and a document may name the file that
	// has them any number of times, or give them any number of names. Each byte counts once.
	if f.CompressedSize64 > a.packed {
		return errFull
	}
	a.packed -= f.CompressedSize64
	r, err := f.Open()
	if err != nil {
		return fmt.Errorf("%w: %s: %w", ErrDamaged, name, err)
	}
	defer r.Close() // it was read; there is nothing to lose
	if err := a.parse(r, h); isDamage(err) {
		return fmt.Errorf("%w: %s: %w", ErrDamaged, name, err)
	} else if err != nil {
		return errFull
	}
	return nil
}

// isDamage reports whether err is more than a bound.
func isDamage(err error) bool { return err != nil && !errors.Is(err, errFull) }

// parse reads tokens one by one, so that only as much is in memory as one token has.
func (a *archive) parse(r io.Reader, h handler) error {
	r, decoded, err := decodeUTF16(r)
	if err != nil {
		return err
	}
	in := &counted{r: r, left: &a.left}
	d := xml.NewDecoder(in)
	if decoded {
		d.CharsetReader = func(_ string, r io.Reader) (io.Reader, error) { return r, nil } // whatever it declares
	}
	depth, skipped := 0, 0 // skipped: the depth of the element that is being skipped; 0: none
	for {
		if a.tokens--; a.tokens < 0 || a.out.full() {
			return errFull
		}
		in.token = maxToken
		t, err := d.Token()
		if err == io.EOF {
			return nil
		}
		if err != nil {
			if in.full {
				return errFull
			}
			return err
		}
		switch t := t.(type) {
		case xml.StartElement:
			if depth++; depth > maxDepth {
				return fmt.Errorf("more than %d elements are nested", maxDepth)
			}
			if skipped == 0 && !h.start(&element{t.Name.Local, t.Attr}) {
				skipped = depth
			}
		case xml.EndElement:
			if skipped == 0 {
				h.end(t.Name.Local)
			} else if skipped == depth {
				skipped = 0
			}
			depth--
		case xml.CharData:
			if skipped == 0 {
				h.text(string(t))
			}
		}
	}
}

// decodeUTF16 returns an XML file in UTF-8. The files of a document are in UTF-8, or in UTF-16 with a byte
// order mark.
func decodeUTF16(r io.Reader) (_ io.Reader, decoded bool, err error) {
	mark := make([]byte, 2)
	n, err := io.ReadFull(r, mark)
	if err != nil && err != io.EOF && err != io.ErrUnexpectedEOF {
		return nil, false, err
	}
	r = io.MultiReader(bytes.NewReader(mark[:n]), r)
	if m := string(mark[:n]); m != "\xff\xfe" && m != "\xfe\xff" {
		return r, false, nil
	}
	return transform.NewReader(r, unicode.UTF16(unicode.BigEndian, unicode.ExpectBOM).NewDecoder()), true, nil
}

// counted counts what is read of all files, and of the present token.
type counted struct {
	r     io.Reader
	left  *int
	token int
	full  bool
}

func (c *counted) Read(p []byte) (int, error) {
	if c.token <= 0 {
		return 0, fmt.Errorf("a tag or text has more than %d bytes", maxToken)
	}
	if *c.left <= 0 {
		c.full = true
		return 0, errFull
	}
	n, err := c.r.Read(p[:min(len(p), *c.left)])
	*c.left -= n
	c.token -= n
	return n, err
}

// relations are the targets of a part's relations, by their identifiers.
type relations struct {
	startsOnly
	part   string // the file that they belong to
	inside map[string]string
	links  map[string]string
}

// relationsOf reads the relations of a file. A file without relations has none.
func (a *archive) relationsOf(part string) (*relations, error) {
	r := &relations{part: part, inside: make(map[string]string), links: make(map[string]string)}
	name := path.Join(path.Dir(part), "_rels", path.Base(part)+".rels")
	if !a.has(name) {
		return r, nil
	}
	return r, a.read(name, r)
}

func (r *relations) start(e *element) bool {
	if e.name != "Relationship" || len(r.inside)+len(r.links) >= maxListed {
		return e.name == "Relationships"
	}
	id, target := e.attr("Id"), strings.TrimSpace(e.attr("Target"))
	if len(target) > maxTarget {
		return false // any number of tags may refer to it
	}
	if e.attr("TargetMode") == "External" {
		r.links[id] = target
		return false
	}
	if strings.HasPrefix(target, "/") {
		r.inside[id] = strings.TrimPrefix(path.Clean(target), "/")
	} else {
		r.inside[id] = path.Join(path.Dir(r.part), target)
	}
	return false
}

// readLinked passes a file to the handler that newHandler returns for the targets of its links.
func (a *archive) readLinked(name string, newHandler func(links map[string]string) handler) error {
	r, err := a.relationsOf(name)
	if err != nil {
		return err
	}
	return a.read(name, newHandler(r.links))
}

// mainPart returns the file with the content of a document of ISO/IEC 29500. It also reads the
// properties of the document, if there are any.
func (a *archive) mainPart() (string, error) {
	f := &mainFinder{types: make(map[string]string)}
	if err := a.read("_rels/.rels", f); err != nil {
		return "", err
	}
	main := f.types["officeDocument"]
	if main == "" {
		return "", fmt.Errorf("%w: it names no main part", ErrDamaged)
	}
	a.readProperties(f.types["core-properties"])
	return main, nil
}

// part is a slide or sheet that the main part lists.
type part struct {
	file, relation, name string
	hidden               bool
}

// listed takes the parts that a document lists, in their order.
type listed struct {
	startsOnly
	of    string // the element that names one
	parts []part
}

// parts returns the parts that the main part lists in elements of a name.
func (a *archive) parts(main, of string) ([]part, error) {
	files, err := a.relationsOf(main)
	if err != nil {
		return nil, err
	}
	l := &listed{of: of}
	if err := a.read(main, l); err != nil {
		return nil, err
	}
	for i := range l.parts {
		l.parts[i].file = files.inside[l.parts[i].relation]
	}
	return l.parts, nil
}

func (l *listed) start(e *element) bool {
	if e.name == l.of && len(l.parts) < maxListed {
		state := e.attr("state")
		l.parts = append(l.parts, part{relation: e.relation(), name: e.attr("name"), hidden: state == "hidden" || state == "veryHidden"})
	}
	return true
}

// mainFinder takes the relations of the whole document by type.
type mainFinder struct {
	startsOnly
	types map[string]string
}

func (f *mainFinder) start(e *element) bool {
	if e.name == "Relationship" {
		if of := path.Base(e.attr("Type")); f.types[of] == "" && len(f.types) < maxListed {
			f.types[of] = strings.TrimPrefix(path.Clean("/"+e.attr("Target")), "/")
		}
	}
	return true
}
