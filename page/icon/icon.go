// Package icon recognises icons of sites, the small pictures that browsers show in tabs.
//
// The bytes come from strangers, and package web later sends them to other people's
// browsers. So the package looks at the bytes, not at the type that a server declared, and
// accepts only formats that hold nothing but pixels: ICO, PNG, GIF, JPEG and WebP. It
// rejects SVG, which can hold scripts, animations, and an endless drawing in a few bytes.
// It decodes only file headers, which say how many pixels a browser would have to keep, and
// the picture of a GIF file.
package icon

import (
	"bytes"
	"image"
	"image/gif"
	"image/jpeg"
	"image/png"
	"io"

	"golang.org/x/image/webp"
)

// The bounds of an icon. A large icon, made for telephones, has 512 pixels and some 20 KiB.
const (
	MaxBytes = 64 << 10
	MaxSide  = 512 // pixels
)

// format is a format with one picture in a file.
type format struct {
	mediaType string
	magic     string
	header    func(io.Reader) (image.Config, error)
	moves     []string // what only files that move contain
}

var formats = []format{
	{"image/png", "\x89PNG\r\n\x1a\n", png.DecodeConfig, []string{"acTL"}},
	{"image/gif", "GIF8", gifHeader, []string{"NETSCAPE2.0", "ANIMEXTS1.0"}},
	{"image/jpeg", "\xff\xd8\xff", jpeg.DecodeConfig, nil},
	{"image/webp", "RIFF", webp.DecodeConfig, []string{"ANIM"}},
}

// TypeOf returns the media type of an icon, "" for anything else: another format, a picture with
// more bytes or pixels than the bounds, and an endless animation, which distracts people from
// the text next to it.
func TypeOf(file []byte) string {
	if len(file) > MaxBytes {
		return ""
	}
	if isICO(file) {
		return "image/x-icon"
	}
	for _, f := range formats {
		if f.holds(file) {
			return f.mediaType
		}
	}
	return ""
}

// IsSquare reports whether a file looks like an icon: a small, square picture in a lossless
// format, as the icons that sites name are. Most pictures of pages are larger, not square, or
// photographs in JPEG.
func IsSquare(file []byte) bool {
	if len(file) > MaxBytes {
		return false
	}
	if isICO(file) {
		return true
	}
	for _, f := range formats {
		if f.mediaType != "image/jpeg" {
			if config, ok := f.read(file); ok {
				return config.Width == config.Height
			}
		}
	}
	return false
}

func (f *format) holds(file []byte) bool {
	_, ok := f.read(file)
	return ok
}

// read returns the size of the picture in a file of the format, and whether it is one that can be
// an icon.
func (f *format) read(file []byte) (config image.Config, ok bool) {
	if !bytes.HasPrefix(file, []byte(f.magic)) {
		return config, false
	}
	for _, mark := range f.moves {
		if bytes.Contains(file, []byte(mark)) {
			return config, false
		}
	}
	config, err := f.header(bytes.NewReader(file))
	return config, err == nil && isSide(config.Width) && isSide(config.Height)
}

func isSide(pixels int) bool { return pixels > 0 && pixels <= MaxSide }

// gifHeader is gif.DecodeConfig for a file whose picture fits into the size that its header
// states: it has a size of its own, which the decoder compares.
func gifHeader(r io.Reader) (image.Config, error) {
	var file bytes.Buffer
	config, err := gif.DecodeConfig(io.TeeReader(r, &file))
	if err != nil || !isSide(config.Width) || !isSide(config.Height) {
		return config, err
	}
	_, err = gif.Decode(io.MultiReader(&file, r))
	return config, err
}
