package icon

import "encoding/binary"

// An ICO file is a directory of pictures of several sizes. Each of them is a PNG file, or a
// device-independent bitmap without the header of its file.
const (
	dirSize    = 6  // reserved (0), type (1 for icons), number of pictures
	entrySize  = 16 // the last 8 bytes are the size of a picture and where it begins
	maxEntries = 64
	bitmapSize = 40 // BITMAPINFOHEADER
)

// isICO reports whether the file is an ICO with pictures within the bounds.
func isICO(file []byte) bool {
	if len(file) < dirSize || binary.LittleEndian.Uint32(file) != 1<<16 {
		return false
	}
	n := int(binary.LittleEndian.Uint16(file[4:]))
	if n == 0 || n > maxEntries || len(file) < dirSize+n*entrySize {
		return false
	}
	for i := range n {
		entry := file[dirSize+i*entrySize:][:entrySize]
		size, at := uint64(binary.LittleEndian.Uint32(entry[8:])), uint64(binary.LittleEndian.Uint32(entry[12:]))
		if at+size > uint64(len(file)) || !isICOPicture(file[at:at+size]) {
			return false
		}
	}
	return true
}

func isICOPicture(b []byte) bool {
	if formats[0].holds(b) {
		return true
	}
	if len(b) < bitmapSize || binary.LittleEndian.Uint32(b) != bitmapSize {
		return false
	}
	// The height counts the rows of the colours and of the mask.
	width, height := int32(binary.LittleEndian.Uint32(b[4:])), int32(binary.LittleEndian.Uint32(b[8:]))
	return isSide(int(width)) && isSide(int(height)/2)
}
