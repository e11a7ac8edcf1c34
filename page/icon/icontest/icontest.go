// Package icontest makes icons in every accepted format, for tests.
package icontest

import (
	"bytes"
	"encoding/binary"
	"image"
	"image/color"
	"image/draw"
	"image/gif"
	"image/jpeg"
	"image/png"
)

// Square is a picture of one colour.
func Square(side int, c color.Color) image.Image {
	canvas := image.NewPaletted(image.Rect(0, 0, side, side), color.Palette{c})
	draw.Draw(canvas, canvas.Bounds(), image.NewUniform(c), image.Point{}, draw.Src)
	return canvas
}

// PNG is a file with one square.
func PNG(side int, c color.Color) []byte {
	var b bytes.Buffer
	must(png.Encode(&b, Square(side, c)))
	return b.Bytes()
}

// GIF is a file with a square for each colour; with several of them, it moves.
func GIF(side int, colours ...color.Color) []byte {
	var b bytes.Buffer
	frames := &gif.GIF{}
	for _, c := range colours {
		frames.Image, frames.Delay = append(frames.Image, Square(side, c).(*image.Paletted)), append(frames.Delay, 10)
	}
	must(gif.EncodeAll(&b, frames))
	return b.Bytes()
}

// JPEG is a file with one square.
func JPEG(side int, c color.Color) []byte {
	var b bytes.Buffer
	must(jpeg.Encode(&b, Square(side, c), nil))
	return b.Bytes()
}

// WebP is the beginning of a lossless file with one square, which says how large it is.
func WebP(side int) []byte {
	pixels := binary.LittleEndian.AppendUint32([]byte{0x2f}, uint32(side-1)|uint32(side-1)<<14)
	pixels = append(pixels, 0)
	b := append([]byte("RIFF\x00\x00\x00\x00WEBPVP8L"), binary.LittleEndian.AppendUint32(nil, uint32(len(pixels)))...)
	b = append(b, pixels...)
	binary.LittleEndian.PutUint32(b[4:], uint32(len(b)-8))
	return b
}

// ICO is a file with some pictures, each a PNG file or a Bitmap.
func ICO(pictures ...[]byte) []byte {
	b := binary.LittleEndian.AppendUint16([]byte{0, 0, 1, 0}, uint16(len(pictures)))
	at := len(b) + 16*len(pictures)
	for _, p := range pictures {
		b = append(b, 16, 16, 0, 0, 1, 0, 32, 0)
		b = binary.LittleEndian.AppendUint32(b, uint32(len(p)))
		b = binary.LittleEndian.AppendUint32(b, uint32(at))
		at += len(p)
	}
	return append(b, bytes.Join(pictures, nil)...)
}

// Bitmap is a square in the form that ICO files have: a header, rows of colours with their
// opacity, and a mask that hides nothing.
func Bitmap(side int, c color.Color) []byte {
	var b []byte
	for _, n := range []int{40, side, 2 * side, 1 | 32<<16, 0, 0, 0, 0, 0, 0} {
		b = binary.LittleEndian.AppendUint32(b, uint32(n))
	}
	red, green, blue, _ := c.RGBA()
	for range side * side {
		b = append(b, byte(blue>>8), byte(green>>8), byte(red>>8), 255)
	}
	return append(b, make([]byte, side*((side+31)/32*4))...)
}

func must(err error) {
	if err != nil {
		panic(err)
	}
}
