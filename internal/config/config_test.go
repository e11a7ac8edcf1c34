package config

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

var wantLine = regexp.MustCompile(`(?m)# want: ?(.*)$`)

// want is what a file of testdata says about itself.
func want(t *testing.T, path string) string {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	m := wantLine.FindStringSubmatch(string(data))
	if m == nil {
		t.Fatalf("%s has no line \"# want: …\"", path)
	}
	return strings.NewReplacer("FILE", path, "KEYS", strings.Join(Keys(), ", ")).Replace(m[1])
}

func files(t *testing.T, pattern string) []string {
	t.Helper()
	list, err := filepath.Glob(filepath.Join("testdata", pattern))
	if err != nil || len(list) == 0 {
		t.Fatalf("no files %s: %v", pattern, err)
	}
	return list
}

// differences lists what differs from the defaults: key=value, with spaces between.
func differences(c Config) string {
	var list []string
	d := Default()
	for _, s := range settings {
		if v := s.get(&c); v != s.get(&d) {
			list = append(list, s.key+"="+v)
		}
	}
	return strings.Join(list, " ")
}

func TestGoodFiles(t *testing.T) {
	for _, path := range files(t, "*.good.yaml") {
		t.Run(filepath.Base(path), func(t *testing.T) {
			c, err := Load(path, nil)
			if err != nil {
				t.Fatal(err)
			}
			if got := differences(c); got != want(t, path) {
				t.Errorf("got  %s\nwant %s", got, want(t, path))
			}
		})
	}
}

func TestBadFiles(t *testing.T) {
	for _, path := range files(t, "*.bad.yaml") {
		t.Run(filepath.Base(path), func(t *testing.T) {
			_, err := Load(path, nil)
			if err == nil {
				t.Fatal("no error")
			}
			if err.Error() != want(t, path) {
				t.Errorf("got  %s\nwant %s", err, want(t, path))
			}
		})
	}
}

// The shipped file shows every key and its default, and says something on each.
func TestShippedFileIsDefault(t *testing.T) {
	const path = "../../config.yaml"
	c, err := Load(path, nil)
	if err != nil {
		t.Fatal(err)
	}
	if c != Default() {
		t.Errorf("config.yaml differs from the defaults: %s", differences(c))
	}
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	entries, err := parse(path, data)
	if err != nil {
		t.Fatal(err)
	}
	for _, key := range Keys() {
		if _, ok := entries[key]; !ok {
			t.Errorf("config.yaml does not have %s", key)
		}
		name := key[strings.LastIndexByte(key, '.')+1:]
		if !regexp.MustCompile(`(?m)^ *#.*\n *` + name + `:`).Match(data) {
			t.Errorf("config.yaml has no sentence above %s", key)
		}
	}
}

func TestPrecedence(t *testing.T) {
	const file = "testdata/everything.good.yaml" // workers: 8
	get := func(flags map[string]Flag) Config {
		t.Helper()
		c, err := Load(file, flags)
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	if c := get(nil); c.Workers != 8 || c.WARC.MaxBody != 1<<20 {
		t.Errorf("file: %+v", c)
	}
	t.Setenv("INDEXER_WORKERS", "16")
	t.Setenv("INDEXER_WARC_MAX_BODY", "2048")
	if c := get(nil); c.Workers != 16 || c.WARC.MaxBody != 2048 {
		t.Errorf("environment above file: %+v", c)
	}
	if c := get(map[string]Flag{"workers": {"workers", "32"}}); c.Workers != 32 || c.WARC.MaxBody != 2048 {
		t.Errorf("flag above environment: %+v", c)
	}
}

func TestErrorsNameTheSource(t *testing.T) {
	check := func(flags map[string]Flag, wantErr string) {
		t.Helper()
		_, err := Load("testdata/empty.good.yaml", flags)
		if err == nil || err.Error() != wantErr {
			t.Errorf("got  %v\nwant %s", err, wantErr)
		}
	}
	check(map[string]Flag{"log_level": {"log-level", "loud"}}, `flag --log-level: log_level: "loud" is not allowed; want debug, info, warn or error`)
	check(map[string]Flag{"data": {"data", ""}}, `flag --data: data: "" is not allowed; want a path`)
	check(map[string]Flag{"crawl.include": {"include", "/a\n("}}, `flag --include: crawl.include: "(" is not allowed; want regular expressions (RE2), such as \.pdf$`)
	t.Setenv("INDEXER_QUERY_LIMIT", "0")
	check(nil, `environment variable INDEXER_QUERY_LIMIT: query.limit: "0" is not allowed; want a whole number from 1 to 1000`)
}

func TestNamedFileMustExist(t *testing.T) {
	_, err := Load("testdata/none.yaml", nil)
	const wantErr = "testdata/none.yaml: cannot read the configuration: no such file or directory"
	if err == nil || err.Error() != wantErr {
		t.Errorf("got  %v\nwant %s", err, wantErr)
	}
}

// Without a name the file of the working directory is read, where there is one.
func TestDefaultFile(t *testing.T) {
	t.Chdir(t.TempDir())
	if c, err := Load("", nil); err != nil || c != Default() {
		t.Fatalf("no file: %+v, %v", c, err)
	}
	if err := os.WriteFile(DefaultFile, []byte("workers: 7\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if c, err := Load("", nil); err != nil || c.Workers != 7 {
		t.Fatalf("%+v, %v", c, err)
	}
}

// Whatever a file holds, parse ends, and accepts only known keys.
func FuzzParse(f *testing.F) {
	for _, pattern := range []string{"testdata/*.yaml", "../../config.yaml"} {
		list, _ := filepath.Glob(pattern)
		for _, path := range list {
			data, err := os.ReadFile(path)
			if err != nil {
				f.Fatal(err)
			}
			f.Add(data)
		}
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		entries, err := parse("f.yaml", data)
		if err != nil && !strings.HasPrefix(err.Error(), "f.yaml") {
			t.Errorf("the error does not begin with the file: %v", err)
		}
		for key := range entries {
			if _, ok := lookup(key); !ok {
				t.Errorf("accepted key %q", key)
			}
		}
	})
}

func TestUnknownVariables(t *testing.T) {
	for name, want := range map[string]string{
		"INDEXER_WROKERS": "; did you mean INDEXER_WORKERS?", "INDEXER_MAX_BODY": "; did you mean INDEXER_WARC_MAX_BODY?",
		"INDEXER_CRAWL_DELAYS": "; did you mean INDEXER_CRAWL_DELAY?", "INDEXER_SOMETHING_ELSE": "", "INDEXER_NOSUCH": "", "INDEXER_": "",
	} {
		t.Run(name, func(t *testing.T) {
			t.Setenv("INDEXER_WORKERS", "4")
			t.Setenv(name, "1")
			got := UnknownVariables()
			if want := "environment variable " + name + " is ignored: there is no such setting" + want; !slices.Contains(got, want) {
				t.Errorf("got %q, want %q", got, want)
			}
			for _, g := range got {
				if strings.Contains(g, "variable INDEXER_WORKERS:") {
					t.Error(g)
				}
			}
		})
	}
}

// Every variable that a test of the project reads, or that CONTRIBUTING.md names, is a setting or
// known as a variable of tests.
func TestTestVariables(t *testing.T) {
	read := regexp.MustCompile(`(?:Getenv|LookupEnv)\("(INDEXER_[A-Z_]+)"\)`)
	found := make(map[string]bool)
	err := filepath.WalkDir("../..", func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() || filepath.Ext(path) != ".go" {
			return err
		}
		source, err := os.ReadFile(path)
		for _, m := range read.FindAllSubmatch(source, -1) {
			found[string(m[1])] = true
		}
		return err
	})
	if err != nil || len(found) < 4 {
		t.Fatalf("found %v, %v", found, err)
	}
	guide, err := os.ReadFile("../../CONTRIBUTING.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range regexp.MustCompile("`(INDEXER_[A-Z_]+)").FindAllSubmatch(guide, -1) {
		found[string(m[1])] = true
	}
	for name := range found {
		t.Setenv(name, "1")
	}
	if got := UnknownVariables(); len(got) > 0 {
		t.Errorf("add to testVariables: %q", got)
	}
}

func TestDistance(t *testing.T) {
	for _, tt := range []struct {
		a, b string
		want int
	}{{"", "", 0}, {"", "ab", 2}, {"delay", "delay", 0}, {"dealy", "delay", 1}, {"worker", "workers", 1}, {"abc", "xyz", 3}} {
		if got := distance(tt.a, tt.b); got != tt.want || distance(tt.b, tt.a) != got {
			t.Errorf("%q, %q: %d, want %d", tt.a, tt.b, got, tt.want)
		}
	}
}

// TestEndlessFile reads a device that never ends.
func TestEndlessFile(t *testing.T) {
	const device = "/dev/zero"
	if _, err := os.Stat(device); err != nil {
		t.Skipf("no device without an end: %v", err)
	}
	_, err := Load(device, nil)
	if want := "more than 1048576 bytes"; err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("got %v, want an error with %q", err, want)
	}
}
