package pdf

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"github.com/webindexer/indexer/internal/killtest"
)

// TestMain also runs as the processes that the tests start.
func TestMain(m *testing.M) {
	killtest.Main(map[string]func() error{
		"child": func() error { return Serve(os.Stdin, os.Stdout, actorOf) },
		"broken": func() error {
			return Serve(os.Stdin, os.Stdout, func() (Converter, error) { return nil, errors.New("no compiler") })
		},
		"dying":  func() error { return errors.New("a child that ends at once") },
		"babble": func() error { _, err := fmt.Println("a child that does not speak the protocol"); return err },
		"parent": parentOfLoop,
	})
	goleak.VerifyTestMain(m)
}

// actorOf returns a converter that does what a document says.
func actorOf() (Converter, error) { return act, nil }

func act(body []byte) ([]byte, error) {
	what, text, _ := strings.Cut(string(body), " ")
	switch what {
	case "html":
		return []byte(text), nil
	case "pid":
		return fmt.Appendf(nil, "%d", os.Getpid()), nil
	case "unreadable":
		return nil, fmt.Errorf("%w: %s", Unreadable("it is damaged"), text)
	case "fail":
		return nil, errors.New(text)
	case "crash":
		os.Exit(3)
	case "panic":
		var nothing *int
		*nothing = 1
	case "long":
		return bytes.Repeat([]byte("x"), usual.result+1), nil
	case "babble":
		_, _ = io.WriteString(os.Stdout, strings.Repeat("no message ", 100))
		select {}
	case "memory":
		for kept := []byte{1}; ; kept = append(kept, kept...) {
			kept[len(kept)-1]++
		}
	case "loop":
		for n := 0; ; n++ {
			if n < 0 {
				return nil, nil
			}
		}
	case "wait":
		select {} // its parent ends it
	}
	return nil, errors.New("the test has no such document")
}

// commandOf starts this program in a role. Its standard error is discarded, because crashes
// are loud.
func commandOf(role string) func() (*exec.Cmd, error) {
	return func() (*exec.Cmd, error) {
		exe, err := os.Executable()
		if err != nil {
			return nil, err
		}
		const variable = "KILLTEST_ROLE="
		cmd := exec.Command(exe)
		cmd.Env = slices.DeleteFunc(os.Environ(), func(v string) bool { return strings.HasPrefix(v, variable) })
		cmd.Env = append(cmd.Env, variable+role)
		return cmd, nil
	}
}

// parentOfLoop has a document read that takes for ever. The child holds the standard output of
// the parent open.
func parentOfLoop() error {
	command := commandOf("child")
	r := New(Options{Command: func() (*exec.Cmd, error) {
		cmd, err := command()
		cmd.Stderr = os.Stdout
		return cmd, err
	}})
	ctx := context.Background()
	if _, err := r.Read(ctx, []byte("html started")); err != nil {
		return err
	}
	fmt.Println("started")
	_, err := r.Read(ctx, []byte("wait"))
	return err
}
