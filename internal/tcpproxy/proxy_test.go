package tcpproxy_test

import (
	"bufio"
	"io"
	"net"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/webindexer/indexer/internal/tcpproxy"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// echo starts a server that sends everything back.
func echo(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go func() {
				defer c.Close()
				_, _ = io.Copy(c, c)
			}()
		}
	}()
	t.Cleanup(func() {
		_ = l.Close()
		<-done
	})
	return l.Addr().String()
}

// caller is a connection to the server by way of the proxy.
type caller struct {
	t *testing.T
	net.Conn
	in *bufio.Reader
}

func call(t *testing.T, p *tcpproxy.Proxy) *caller {
	t.Helper()
	c, err := net.Dial("tcp", p.Address())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	return &caller{t, c, bufio.NewReader(c)}
}

func (c *caller) say(text string) {
	c.t.Helper()
	if _, err := io.WriteString(c, text+"\n"); err != nil {
		c.t.Fatal(err)
	}
}

func (c *caller) hear(want string) {
	c.t.Helper()
	if got, err := c.in.ReadString('\n'); err != nil || got != want+"\n" {
		c.t.Fatalf("heard %q, %v; want %q", got, err, want)
	}
}

func TestProxy(t *testing.T) {
	p, err := tcpproxy.Start("tcp", echo(t))
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	old := call(t, p)
	old.say("one")
	old.hear("one")

	p.Cut()
	p.Cut() // again: no effect
	old.say("two")
	fresh := call(t, p)
	fresh.say("three")
	heard := make(chan struct{})
	go func() {
		defer close(heard)
		old.hear("two")
		fresh.hear("three")
	}()
	select {
	case <-heard:
		t.Error("it passed while the proxy held everything back")
	case <-time.After(20 * time.Millisecond): // only a proxy that leaks can fail this
	}
	p.Heal()
	p.Heal()
	<-heard

	p.Delay(15 * time.Millisecond)
	began := time.Now()
	old.say("four")
	old.hear("four")
	if took := time.Since(began); took < 30*time.Millisecond {
		t.Errorf("two ways of 15 ms took %v", took)
	}
	p.Delay(0)

	p.Cut()
	old.say("five")
	p.Break()
	p.Heal()
	if text, err := io.ReadAll(old.in); len(text) > 0 {
		t.Errorf("heard %q, %v from a broken connection", text, err)
	}
	again := call(t, p)
	again.say("six")
	again.hear("six")
	p.Cut() // Close does not wait for Heal
	again.say("seven")
}

// TestMuch: what passes arrives unchanged, however much it is.
func TestMuch(t *testing.T) {
	p, err := tcpproxy.Start("tcp", echo(t))
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	p.Delay(time.Millisecond)
	c := call(t, p)
	sent := strings.Repeat("0123456789abcdef", 100_000)
	go func() { _, _ = io.WriteString(c, sent+"\n") }() // a short write is heard
	c.hear(sent)
}

// TestServerDown: a client learns at once that there is no listener.
func TestServerDown(t *testing.T) {
	p, err := tcpproxy.Start("unix", t.TempDir()+"/nobody")
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	if text, err := io.ReadAll(call(t, p)); len(text) > 0 {
		t.Errorf("heard %q, %v", text, err)
	}
}
