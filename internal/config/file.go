package config

import (
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"
)

// entry is a key of the file: its value as written, and its position.
type entry struct {
	value string
	where string // file:line
}

// maxFile bounds the size of a configuration file, in bytes.
const maxFile = 1 << 20

// parse reads a file strictly: an unknown key, a duplicate key, or a list instead of a
// word is an error at its line.
func parse(path string, data []byte) (map[string]entry, error) {
	if len(data) > maxFile {
		return nil, &Error{Where: path, Reason: fmt.Sprintf("more than %d bytes are too many for a configuration file", maxFile)}
	}
	var doc yaml.Node
	dec := yaml.NewDecoder(strings.NewReader(string(data)))
	if err := dec.Decode(&doc); errors.Is(err, io.EOF) {
		return nil, nil
	} else if err != nil {
		return nil, syntaxError(path, data, err)
	}
	var second yaml.Node
	switch err := dec.Decode(&second); {
	case err == nil:
		return nil, &Error{Where: fmt.Sprintf("%s:%d", path, second.Line), Reason: "there is more than one YAML document; want one"}
	case !errors.Is(err, io.EOF):
		return nil, syntaxError(path, data, err)
	}
	f := file{path: path, entries: make(map[string]entry)}
	return f.entries, f.walk("", doc.Content[0])
}

type file struct {
	path    string
	entries map[string]entry
}

// walk collects the keys of a mapping, prefixed with their section.
func (f *file) walk(section string, n *yaml.Node) error {
	if n.Kind == yaml.ScalarNode && n.Tag == "!!null" {
		return nil // an empty file or section
	}
	if n.Kind != yaml.MappingNode {
		return &Error{Where: f.at(n), Key: strings.TrimSuffix(section, "."), Reason: "want lines of the form key: value"}
	}
	for i := 0; i < len(n.Content); i += 2 {
		if err := f.add(section, n.Content[i], n.Content[i+1]); err != nil {
			return err
		}
	}
	return nil
}

func (f *file) add(section string, name, value *yaml.Node) error {
	key, value := section+name.Value, resolved(value)
	if isSection(key) {
		return f.walk(key+".", value)
	}
	s, ok := lookup(key)
	if !ok {
		return &Error{Where: f.at(name), Key: key, Reason: "there is no such key" + f.instead(key)}
	}
	if earlier, ok := f.entries[key]; ok {
		return &Error{Where: f.at(name), Key: key, Reason: "is already set at " + earlier.where}
	}
	if lines, ok := itemsOf(value); ok && s.lists {
		f.entries[key] = entry{value: lines, where: f.at(value)}
		return nil
	}
	if value.Kind != yaml.ScalarNode {
		return &Error{Where: f.at(value), Key: key, Reason: "want " + s.allowed + ", not a list or a section"}
	}
	text := value.Value
	if value.Tag == "!!null" {
		text = "" // null and ~ are not text, such as the name of a directory
	}
	f.entries[key] = entry{value: text, where: f.at(value)}
	return nil
}

// instead suggests the key that may be meant, or lists all keys.
func (f *file) instead(key string) string {
	if near := meant(key, Keys()); near != "" {
		return near
	}
	return "; want one of " + strings.Join(Keys(), ", ")
}

// resolved returns the node that a reference (*name) means.
func resolved(n *yaml.Node) *yaml.Node {
	if n.Kind == yaml.AliasNode {
		return n.Alias
	}
	return n
}

// itemsOf returns the items of a list of words, one per line.
func itemsOf(n *yaml.Node) (lines string, ok bool) {
	if n.Kind != yaml.SequenceNode {
		return "", false
	}
	var items []string
	for _, item := range n.Content {
		if item = resolved(item); item.Kind != yaml.ScalarNode {
			return "", false
		}
		items = append(items, item.Value)
	}
	return strings.Join(items, "\n"), true
}

func isSection(key string) bool {
	return slices.ContainsFunc(settings, func(s setting) bool { return strings.HasPrefix(s.key, key+".") })
}

func (f *file) at(n *yaml.Node) string { return fmt.Sprintf("%s:%d", f.path, n.Line) }

var yamlLine = regexp.MustCompile(`^yaml: (?:line (\d+): )?(.*)$`)

// syntaxError turns an error of the decoder into an Error.
func syntaxError(path string, data []byte, err error) error {
	m := yamlLine.FindStringSubmatch(err.Error())
	switch {
	case m == nil:
		return &Error{Where: path, Reason: "not YAML: " + err.Error()}
	case m[1] == "":
		return &Error{Where: fmt.Sprintf("%s:%d", path, untoldLine(data, m[2])), Reason: "not YAML: " + m[2]}
	}
	return &Error{Where: path + ":" + m[1], Reason: "not YAML: " + m[2]}
}

var yamlAnchor = regexp.MustCompile(`^unknown anchor '(.*)' referenced$`)

// untoldLine returns the line of a mistake if the decoder does not tell it: for characters that
// YAML does not allow, for references to nothing, and for all mistakes in the first line.
func untoldLine(data []byte, reason string) int {
	anchor := yamlAnchor.FindStringSubmatch(reason)
	line := 1
	for text := range strings.Lines(string(data)) {
		if strings.ContainsFunc(text, isForeign) || !utf8.ValidString(text) || anchor != nil && strings.Contains(text, "*"+anchor[1]) {
			return line
		}
		line++
	}
	return 1
}

// isForeign reports whether YAML does not allow a character.
func isForeign(r rune) bool {
	return unicode.IsControl(r) && !strings.ContainsRune("\t\r\n\u0085", r)
}
