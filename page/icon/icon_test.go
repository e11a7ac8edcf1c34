package icon

import (
	"bytes"
	"encoding/binary"
	"image/color"
	"slices"
	"strings"
	"testing"

	"github.com/webindexer/indexer/page/icon/icontest"
)

var red, blue = color.RGBA{200, 30, 30, 255}, color.RGBA{30, 30, 200, 255}

func TestTypeOf(t *testing.T) {
	png, bitmap := icontest.PNG(32, red), icontest.Bitmap(16, red)
	ico := icontest.ICO(bitmap, png)
	beyond := slices.Clone(ico)
	binary.LittleEndian.PutUint32(beyond[6+12:], uint32(len(ico)))
	wrapping := slices.Clone(ico)
	binary.LittleEndian.PutUint32(wrapping[6+8:], 1<<32-1)
	flipped := slices.Clone(bitmap)
	binary.LittleEndian.PutUint32(flipped[8:], 1<<31)
	moving := slices.Insert(slices.Clone(png), 33, []byte("\x00\x00\x00\x08acTL\x00\x00\x00\x02\x00\x00\x00\x00\x00\x00\x00\x00")...)
	oversized := icontest.GIF(16, red)
	descriptor := bytes.IndexByte(oversized, ',') // before left, top, width and height
	binary.LittleEndian.PutUint16(oversized[descriptor+5:], 60_000)
	for name, tc := range map[string]struct {
		file []byte
		want string
	}{
		"png":                          {png, "image/png"},
		"gif":                          {icontest.GIF(16, red), "image/gif"},
		"jpeg":                         {icontest.JPEG(16, red), "image/jpeg"},
		"webp":                         {icontest.WebP(16), "image/webp"},
		"ico of a bitmap and a png":    {ico, "image/x-icon"},
		"the largest sides":            {icontest.PNG(MaxSide, red), "image/png"},
		"too wide":                     {icontest.PNG(MaxSide+1, red), ""},
		"too wide within an ico":       {icontest.ICO(icontest.PNG(16, red), icontest.PNG(MaxSide+1, red)), ""},
		"a bitmap too wide":            {icontest.ICO(icontest.Bitmap(MaxSide+1, red)[:64]), ""},
		"a bitmap upside down":         {icontest.ICO(flipped), ""},
		"webp, too wide":               {icontest.WebP(MaxSide + 1), ""},
		"too long":                     {append(slices.Clone(png), make([]byte, MaxBytes)...), ""},
		"a gif larger than it says":    {oversized, ""},
		"a moving gif":                 {icontest.GIF(16, red, blue), ""},
		"a moving png":                 {moving, ""},
		"an empty file":                {nil, ""},
		"a page":                       {[]byte("<!doctype html><title>404</title>"), ""},
		"a drawing":                    {[]byte(`<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>`), ""},
		"a drawing within an ico":      {icontest.ICO([]byte(strings.Repeat("<svg>", 20))), ""},
		"an ico without pictures":      {icontest.ICO(), ""},
		"an ico with too many":         {icontest.ICO(slices.Repeat([][]byte{png}, maxEntries+1)...), ""},
		"an ico that ends in its list": {ico[:20], ""},
		"a picture beyond the end":     {beyond, ""},
		"a size that wraps around":     {wrapping, ""},
		"a cursor":                     {append([]byte{0, 0, 2}, ico[3:]...), ""},
		"only the magic number":        {png[:8], ""},
	} {
		if got := TypeOf(tc.file); got != tc.want {
			t.Errorf("%s: %q, want %q", name, got, tc.want)
		}
	}
}

// FuzzTypeOf: no file makes it fail, and what is an icon begins as one and is within the bounds.
func FuzzTypeOf(f *testing.F) {
	for _, seed := range [][]byte{icontest.ICO(icontest.Bitmap(16, red), icontest.PNG(8, blue)), icontest.PNG(16, red), icontest.GIF(8, red), icontest.JPEG(8, red), icontest.WebP(8), []byte("<svg>")} {
		f.Add(seed)
	}
	beginnings := map[string]string{"image/x-icon": "\x00\x00\x01\x00", "image/png": "\x89PNG", "image/gif": "GIF8", "image/jpeg": "\xff\xd8\xff", "image/webp": "RIFF"}
	f.Fuzz(func(t *testing.T, file []byte) {
		got := TypeOf(file)
		if got == "" {
			return
		}
		if begin, known := beginnings[got]; !known || !bytes.HasPrefix(file, []byte(begin)) || len(file) > MaxBytes {
			t.Errorf("%d bytes that begin with %q are an icon: %s", len(file), file[:min(len(file), 16)], got)
		}
	})
}

// TestIsSquare: small square pictures without loss may be the icons of sites that name them.
func TestIsSquare(t *testing.T) {
	wide := icontest.WebP(16)
	wide[21]++ // the lowest bits of its width
	for name, tc := range map[string]struct {
		file []byte
		want bool
	}{
		"PNG":        {icontest.PNG(192, color.Black), true},
		"GIF":        {icontest.GIF(16, color.Black), true},
		"WebP":       {icontest.WebP(64), true},
		"ICO":        {icontest.ICO(icontest.Bitmap(16, color.Black)), true},
		"JPEG":       {icontest.JPEG(16, color.Black), false},
		"wide":       {wide, false},
		"large":      {icontest.PNG(1024, color.Black), false},
		"many bytes": {append(icontest.PNG(16, color.Black), make([]byte, MaxBytes)...), false},
		"moving":     {icontest.GIF(16, color.Black, color.White), false},
		"text":       {[]byte("<svg>"), false},
		"nothing":    {nil, false},
	} {
		if got := IsSquare(tc.file); got != tc.want {
			t.Errorf("%s: %t", name, got)
		}
	}
}
