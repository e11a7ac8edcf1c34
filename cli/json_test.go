package cli

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/rogpeppe/go-internal/testscript"
)

// parseJSON reads one JSON value and nothing else. Numbers stay as written.
func parseJSON(text string) (v any, err error) {
	d := json.NewDecoder(bytes.NewReader([]byte(text)))
	d.UseNumber()
	if err := d.Decode(&v); err != nil {
		return nil, err
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("more than one JSON value")
	}
	return v, nil
}

// step goes one step down a path.
func step(v any, name string) (any, error) {
	switch v := v.(type) {
	case map[string]any:
		if name == "length" {
			return len(v), nil
		}
		if next, ok := v[name]; ok {
			return next, nil
		}
		return nil, fmt.Errorf("no field %q; there are %s", name, strings.Join(slices.Sorted(maps.Keys(v)), " "))
	case []any:
		if name == "length" {
			return len(v), nil
		}
		i, err := strconv.Atoi(name)
		if err != nil || i < 0 || i >= len(v) {
			return nil, fmt.Errorf("no element %q; there are %d", name, len(v))
		}
		return v[i], nil
	}
	if name == "." || name == "" {
		return v, nil
	}
	return nil, fmt.Errorf("%v has nothing in it", v)
}

func jsonValue(ts *testscript.TestScript, neg bool, args []string) {
	if len(args) != 3 {
		ts.Fatalf("usage: json FILE PATH WANT")
	}
	got := fmt.Sprint(jsonAt(ts, args[0], args[1]))
	if (got == args[2]) == neg {
		ts.Fatalf("%s is %q", args[1], got)
	}
}

// jsonFields checks the names of an object's fields; "" as path is the whole.
func jsonFields(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 3 {
		ts.Fatalf("usage: fields FILE PATH NAMES…")
	}
	v, err := parseJSON(ts.ReadFile(args[0]))
	ts.Check(err)
	if args[1] != "." {
		v = jsonAt(ts, args[0], args[1])
	}
	object, ok := v.(map[string]any)
	if !ok {
		ts.Fatalf("%s is no object: %v", args[1], v)
	}
	got, want := slices.Sorted(maps.Keys(object)), slices.Sorted(slices.Values(args[2:]))
	if !slices.Equal(got, want) {
		ts.Fatalf("fields of %s:\ngot  %s\nwant %s", args[1], strings.Join(got, " "), strings.Join(want, " "))
	}
}
