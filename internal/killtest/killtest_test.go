package killtest_test

import (
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"github.com/webindexer/indexer/internal/killtest"
)

// The roles count to three, and then do what their names say.
func TestMain(m *testing.M) {
	count := func(then func() error) func() error {
		return func() error {
			die := killtest.At("2", 1, killtest.Die)
			for i := range 3 {
				fmt.Println(i)
				if os.Getenv("DIE") != "" {
					die(fmt.Sprint(i))
				}
			}
			return then()
		}
	}
	killtest.Main(map[string]func() error{
		"end":  count(func() error { return nil }),
		"fail": count(func() error { return errors.New("two\nlines") }),
		"wait": count(func() error { _, err := io.Copy(io.Discard, os.Stdin); return err }),
		"cut":  count(func() error { fmt.Print("no end"); killtest.Die(); return nil }),
	})
	goleak.VerifyTestMain(m)
}

func TestChild(t *testing.T) {
	for _, tt := range []struct {
		role, env string
		killAt    string
		killed    bool
		failed    string
	}{
		{role: "end"},
		{role: "fail", failed: "two\nlines"},
		{role: "nobody", failed: `no role "nobody" in this test binary`},
		{role: "cut", killed: true},
		{role: "end", env: "DIE=1", killed: true},
		{role: "wait", killAt: "2", killed: true},
	} {
		t.Run(tt.role+tt.env+tt.killAt, func(t *testing.T) {
			cmd := killtest.Role(t, tt.role, tt.env)
			if tt.role == "wait" {
				in, err := cmd.StdinPipe()
				if err != nil {
					t.Fatal(err)
				}
				defer in.Close()
			}
			c := killtest.Start(t, cmd)
			var lines []string
			for line := range c.Lines() {
				lines = append(lines, line)
				if line == tt.killAt {
					c.Kill()
				}
			}
			if want := []string{"0", "1", "2"}; !slices.Equal(lines, want) && tt.role != "nobody" {
				t.Errorf("lines %q, want %q", lines, want)
			}
			if killed, failed := c.Killed(), c.Failed(); killed != tt.killed || failed != tt.failed {
				t.Errorf("killed %t, want %t; failed with %q, want %q", killed, tt.killed, failed, tt.failed)
			}
			c.Kill() // has no effect
		})
	}
}

// TestUntil reads up to a line, and leaves a child that runs to the end of its test.
func TestUntil(t *testing.T) {
	var left *killtest.Child
	t.Run("left running", func(t *testing.T) {
		cmd := killtest.Role(t, "wait")
		in, err := cmd.StdinPipe()
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = in.Close() })
		left = killtest.Start(t, cmd)
		if line := left.Until("1"); line != "1" {
			t.Errorf("got %q", line)
		}
		if said := left.Said(); !strings.HasPrefix(said, "0\n1\n") {
			t.Errorf("it said %q", said)
		}
	})
	if !left.Killed() {
		t.Error("it outlived its test")
	}
}
