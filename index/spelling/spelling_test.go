package spelling

import "testing"

func TestEditDistance(t *testing.T) {
	for _, tt := range []struct {
		a, b string
		want int
	}{{"", "", 0}, {"abc", "abc", 0}, {"abc", "acb", 1}, {"abc", "ab", 1}, {"abc", "xbc", 1}, {"museum", "musuem", 1}, {"abcd", "badc", 2}, {"kitten", "sitting", 3}, {"é", "e", 1}, {"a", "abcdef", 3}} {
		if got := Distance(tt.a, tt.b, 2); min(got, 3) != tt.want || Distance(tt.b, tt.a, 2) != got {
			t.Errorf("%q, %q: %d, want %d", tt.a, tt.b, got, tt.want)
		}
	}
}
