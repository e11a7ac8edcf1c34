// Package longjson writes JSON objects whose lists do not fit into memory, field by field
// and entry by entry. The output is that of encoding/json without HTML escaping, made Plain.
package longjson

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
)

// Writer writes objects, one a line. It writes in small pieces: give it a buffer.
type Writer struct {
	w     io.Writer
	piece bytes.Buffer
	enc   *json.Encoder // to piece
	inner bool          // a field was written
}

// New makes a writer to w.
func New(w io.Writer) *Writer {
	o := &Writer{w: w}
	o.enc = json.NewEncoder(&o.piece)
	o.enc.SetEscapeHTML(false)
	return o
}

// Open begins an object.
func (o *Writer) Open() error {
	o.inner = false
	return o.text("{")
}

// Fields adds the fields of a struct, or of whatever else is an object in JSON.
func (o *Writer) Fields(v any) error {
	b, err := o.encode(v)
	if err != nil {
		return err
	}
	if len(b) < 2 || b[0] != '{' {
		return fmt.Errorf("longjson: %T is not an object", v)
	}
	if len(b) == len("{}") {
		return nil
	}
	if err := o.comma(); err != nil {
		return err
	}
	_, err = o.w.Write(b[1 : len(b)-1])
	return err
}

// List adds a field that is a list of the values that each puts, one after the other.
// each must return an error of put at once; List returns the error of each.
func (o *Writer) List(name string, each func(put func(v any) error) error) error {
	if err := o.comma(); err != nil {
		return err
	}
	key, err := o.encode(name)
	if err == nil {
		_, err = o.w.Write(key)
	}
	if err == nil {
		err = o.text(":[")
	}
	if err != nil {
		return err
	}
	separator := ""
	err = each(func(v any) error {
		b, err := o.encode(v)
		if err != nil {
			return err
		}
		if err := o.text(separator); err != nil {
			return err
		}
		separator = ","
		_, err = o.w.Write(b)
		return err
	})
	if err != nil {
		return err
	}
	return o.text("]")
}

// Close ends the object, and its line.
func (o *Writer) Close() error { return o.text("}\n") }

func (o *Writer) comma() error {
	if !o.inner {
		o.inner = true
		return nil
	}
	return o.text(",")
}

// encode is v in JSON, until the next call.
func (o *Writer) encode(v any) ([]byte, error) {
	o.piece.Reset()
	if err := o.enc.Encode(v); err != nil {
		return nil, err
	}
	return Plain(bytes.TrimSuffix(o.piece.Bytes(), []byte("\n"))), nil
}

func (o *Writer) text(s string) error {
	if s == "" {
		return nil
	}
	_, err := io.WriteString(o.w, s)
	return err
}
