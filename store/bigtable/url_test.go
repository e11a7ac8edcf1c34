package bigtable

import (
	"strings"
	"testing"
)

func TestParse(t *testing.T) {
	for setting, want := range map[string]location{
		"bigtable://p/i/web":                         {project: "p", instance: "i", prefix: "web"},
		"bigtable://example.com:p/i/_a-b.c":          {project: "example.com:p", instance: "i", prefix: "_a-b.c"},
		"bigtable://p/i/web?app_profile=one-cluster": {project: "p", instance: "i", prefix: "web", profile: "one-cluster"},
		"bigtable://p/i/web?emulator=127.0.0.1:9":    {project: "p", instance: "i", prefix: "web", emulator: "127.0.0.1:9"},
	} {
		if got, err := parse(setting); err != nil || got != want {
			t.Errorf("parse(%q) = %+v, %v; want %+v", setting, got, err, want)
		}
	}
	for setting, want := range map[string]string{
		"bigtable://p/i":                              "a project, an instance and a prefix are needed",
		"bigtable:///i/web":                           "a project, an instance and a prefix are needed",
		"bigtable://p/i/web/more":                     "a project, an instance and a prefix are needed",
		"bigtable://p/i/":                             `the prefix ""`,
		"bigtable://p/i/-web":                         `the prefix "-web"`,
		"bigtable://p/i/a b":                          `the prefix "a b"`,
		"bigtable://p/i/" + strings.Repeat("x", 44):   "at most 43",
		"bigtable://p/i/web?profile=x":                `"profile" is not understood`,
		"bigtable://p/i/web?app_profile=":             `"app_profile" is not understood`,
		"bigtable://p/i/web?app_profile=a&emulator=%": "invalid URL escape",
		"postgres://p/i/web":                          "no URL of Bigtable",
	} {
		if _, err := parse(setting); err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "write bigtable://") {
			t.Errorf("parse(%q): %v; want %q", setting, err, want)
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add("bigtable://p/i/web?app_profile=one-cluster")
	f.Fuzz(func(t *testing.T, setting string) {
		l, err := parse(setting)
		if err == nil && (l.project == "" || l.instance == "" || len(l.prefix+notifySuffix) > 50) {
			t.Errorf("parse(%q) = %+v", setting, l)
		}
	})
}

func TestFamilyOf(t *testing.T) {
	for group, want := range map[string]string{"url": "url", "~lock": "_7elock", "a_b": "a_5fb", "é.-Z9": "_c3_a9.-Z9"} {
		if got, err := familyOf(group); err != nil || got != want {
			t.Errorf("familyOf(%q) = %q, %v; want %q", group, got, err, want)
		}
	}
	if _, err := familyOf(strings.Repeat("~", 22)); err == nil || !strings.Contains(err.Error(), "66 bytes") {
		t.Errorf("familyOf of a name that is too long: %v", err)
	}
}

// The key of a row in the table of groups with OwnTable is a stored format.
func TestShardKey(t *testing.T) {
	for row, want := range map[string]string{"": "5l", "a": "cs", "b": "5l", "org.example/": "aq"} {
		for i, of := range ownShards {
			if got := of.key([]byte(row)); got != want[i:i+1]+row {
				t.Errorf("key %d of %q = %q, want %q", i, row, got, want[i:i+1]+row)
			}
		}
	}
}
