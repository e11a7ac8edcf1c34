package repository

import (
	"encoding"
	"encoding/hex"
	"reflect"
	"unicode/utf8"
)

// printable turns a value into one that reads well as JSON: hashes and keys, which
// are arrays of bytes, become hexadecimal digits, and bytes that are text become
// text.
func printable(v reflect.Value) any {
	if !v.IsValid() {
		return nil
	}
	if _, ok := v.Interface().(encoding.TextMarshaler); ok {
		return v.Interface() // a time, and what else says how it is written
	}
	switch v.Kind() {
	case reflect.Pointer, reflect.Interface:
		return printable(v.Elem())
	case reflect.Struct:
		fields := make(map[string]any)
		for i := range v.NumField() {
			if f := v.Type().Field(i); f.IsExported() {
				fields[f.Name] = printable(v.Field(i))
			}
		}
		return fields
	case reflect.Array, reflect.Slice:
		return printableList(v)
	}
	return v.Interface()
}

func printableList(v reflect.Value) any {
	if v.Type().Elem().Kind() == reflect.Uint8 {
		b := make([]byte, v.Len())
		reflect.Copy(reflect.ValueOf(b), v)
		if v.Kind() == reflect.Slice && utf8.Valid(b) {
			return string(b)
		}
		return hex.EncodeToString(b)
	}
	list := make([]any, v.Len())
	for i := range list {
		list[i] = printable(v.Index(i))
	}
	return list
}
