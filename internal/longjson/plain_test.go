package longjson

import (
	"bytes"
	"encoding/json"
	"testing"
)

func TestPlain(t *testing.T) {
	for _, tc := range []struct{ value, want string }{
		{"", `""`},
		{"Grüße, 世界 \t", `"Grüße, 世界 \t"`},
		{"a\u009b31mb", `"a\u009b31mb"`},
		{"\u0080\u009f\u00a0\x7f~", `"\u0080\u009f` + "\u00a0" + `\u007f~"`},
		{"\u202egpj.exe\u2066\u061c", `"\u202egpj.exe\u2066\u061c"`},
	} {
		text, err := json.Marshal(tc.value)
		if err != nil {
			t.Fatal(err)
		}
		got := Plain(text)
		if string(got) != tc.want {
			t.Errorf("%q: got %s, want %s", tc.value, got, tc.want)
		}
		var back string
		if err := json.Unmarshal(got, &back); err != nil || back != tc.value {
			t.Errorf("%q: reads as %q (%v)", tc.value, back, err)
		}
	}
}

// TestWriterIsPlain wants the escapes in the lines of a Writer too.
func TestWriterIsPlain(t *testing.T) {
	var b bytes.Buffer
	w := New(&b)
	for _, err := range []error{
		w.Open(),
		w.Fields(struct{ A string }{"\u009b"}),
		w.List("l", func(put func(any) error) error { return put("\u202e") }),
		w.Close(),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	if want := `{"A":"\u009b","l":["\u202e"]}` + "\n"; b.String() != want {
		t.Errorf("got %s, want %s", b.String(), want)
	}
}
