package pdftest

import (
	"crypto/md5" //nolint:gosec // the format asks for it
	"crypto/rc4" //nolint:gosec // likewise
	"encoding/hex"
	"fmt"
	"slices"
)

// The oldest encryption of PDF: 40 bits, revision 2 of the standard security handler.

const (
	fileID      = "00112233445566778899aabbccddeeff"
	permissions = -4
)

var padding = []byte("\x28\xbf\x4e\x5e\x4e\x75\x8a\x41\x64\x00\x4e\x56\xff\xfa\x01\x08\x2e\x2e\x00\xb6\xd0\x68\x3e\x80\x2f\x0c\xa9\xfe\x64\x53\x69\x7a")

func (w *writer) encrypts() bool { return w.options.Password != "" || w.options.EmptyPassword }

func (w *writer) padded() []byte {
	return append([]byte(w.options.Password), padding...)[:len(padding)]
}

// owner is the entry O, for the owner's password "owner".
func (w *writer) owner() []byte {
	sum := md5.Sum(append([]byte("owner"), padding...)[:len(padding)])
	return crypt(sum[:5], w.padded())
}

func (w *writer) fileKey() []byte {
	if w.key == nil {
		id, err := hex.DecodeString(fileID)
		if err != nil {
			panic(err) // it is a constant
		}
		p := int32(permissions)
		sum := md5.Sum(slices.Concat(w.padded(), w.owner(), []byte{byte(p), byte(p >> 8), byte(p >> 16), byte(p >> 24)}, id))
		w.key = sum[:5]
	}
	return w.key
}

func (w *writer) encryption() string {
	return fmt.Sprintf("<</Filter/Standard/V 1/R 2/P %d/O<%x>/U<%x>>>", permissions, w.owner(), crypt(w.fileKey(), padding))
}

// encrypt encrypts what belongs to an object.
func (w *writer) encrypt(object int, data []byte) []byte {
	sum := md5.Sum(append(slices.Clone(w.fileKey()), byte(object), byte(object>>8), byte(object>>16), 0, 0))
	return crypt(sum[:10], data)
}

func crypt(key, data []byte) []byte {
	c, err := rc4.NewCipher(key)
	if err != nil {
		panic(err) // the length of the key is a constant
	}
	out := make([]byte, len(data))
	c.XORKeyStream(out, data)
	return out
}
