package profile

import (
	"bytes"
	"runtime/pprof"
	"slices"
	"strings"
	"testing"
)

// TestRead reads a profile of goroutines as the runtime writes it; one of them is in a
// known function.
func TestRead(t *testing.T) {
	stop := make(chan struct{})
	started := make(chan struct{})
	done := make(chan struct{})
	go func() {
		defer close(done)
		waitHere(started, stop)
	}()
	<-started
	var out bytes.Buffer
	if err := pprof.Lookup("goroutine").WriteTo(&out, 0); err != nil {
		t.Fatal(err)
	}
	close(stop)
	<-done
	samples, err := Read(&out)
	if err != nil {
		t.Fatal(err)
	}
	i := slices.IndexFunc(samples, func(s Sample) bool {
		return slices.ContainsFunc(s.Stack, func(f string) bool { return strings.HasSuffix(f, "profile.waitHere") })
	})
	if i < 0 {
		t.Fatalf("no stack has the function: %v", samples)
	}
	if s := samples[i]; len(s.Values) != 1 || s.Values[0] < 1 {
		t.Errorf("values %v", s.Values)
	}
}

//go:noinline
func waitHere(started, stop chan struct{}) {
	close(started)
	<-stop
}

func TestReadDamaged(t *testing.T) {
	var out bytes.Buffer
	if err := pprof.Lookup("goroutine").WriteTo(&out, 0); err != nil {
		t.Fatal(err)
	}
	if _, err := Read(bytes.NewReader(out.Bytes()[:out.Len()/2])); err == nil {
		t.Error("a half of a profile was read")
	}
	if _, err := Read(strings.NewReader("no profile")); err == nil {
		t.Error("something else was read as a profile")
	}
}

// TestParts: rules that hold anywhere come first, then the innermost function decides.
func TestParts(t *testing.T) {
	rules := []Rule{
		{Part: "parse", Functions: []string{"a/page."}},
		{Part: "compression", Functions: []string{"zstd."}},
		{Part: "compaction", Anywhere: true, Functions: []string{"badger.(*DB).compact"}},
	}
	for _, tc := range []struct{ stack, want string }{
		{"runtime.memmove zstd.Encode a/page.Read main.main", "compression"},
		{"runtime.memmove a/page.Read zstd.Encode", "parse"},
		{"zstd.Encode badger.(*DB).compactAll", "compaction"},
		{"runtime.memmove main.main", other},
		{"", other},
	} {
		if got := partOf(strings.Fields(tc.stack), rules); got != tc.want {
			t.Errorf("%s: %s, want %s", tc.stack, got, tc.want)
		}
	}
	samples := []Sample{
		{Stack: []string{"a/page.X"}, Values: []int64{1, 30}},
		{Stack: []string{"zstd.X"}, Values: []int64{1, 50}},
		{Stack: []string{"a/page.Y"}, Values: []int64{1, 40}},
		{Stack: []string{"zstd.X"}, Values: []int64{1}}, // without the value
	}
	want := []Part{{"parse", 70, 70.0 / 120}, {"compression", 50, 50.0 / 120}}
	if got := Parts(samples, 1, rules); !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}

func TestStages(t *testing.T) {
	samples := []Sample{
		{Stack: []string{"x.F", "m/observers.(*documenter).write.func1", "m/observers.(*documenter).run", "m/notify.run"}, Values: []int64{3}},
		{Stack: []string{"m/observers.cluster.func2", "m/observers.cluster"}, Values: []int64{2}},
		{Stack: []string{"main.main"}, Values: []int64{4}},
	}
	want := []string{"other", "observers.documenter", "observers.cluster"}
	for i, p := range Stages(samples, 0, []string{"m/observers."}) {
		if p.Name != want[i] {
			t.Errorf("%d: %s, want %s", i, p.Name, want[i])
		}
	}
}
