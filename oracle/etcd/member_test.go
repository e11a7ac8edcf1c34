package etcd

import (
	"context"
	"errors"
	"net"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/webindexer/indexer/internal/etcdtest"
	"github.com/webindexer/indexer/oracle"
)

func dial(t *testing.T, s *etcdtest.Server) *Client {
	t.Helper()
	c, err := Dial([]string{s.Endpoint}, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := c.Close(); err != nil && !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
	})
	return c
}

func join(t *testing.T, c *Client) *Member {
	t.Helper()
	m, err := Join(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// until waits for a condition that other processes bring about.
func until(t *testing.T, what string, cond func() bool) time.Duration {
	t.Helper()
	began, tick := time.Now(), time.NewTicker(10*time.Millisecond)
	defer tick.Stop()
	for !cond() {
		if time.Since(began) > time.Minute {
			t.Fatal("waited in vain until ", what)
		}
		<-tick.C
	}
	return time.Since(began)
}

func alive(t *testing.T, m *Member, token string) bool {
	t.Helper()
	ok, err := m.Alive(t.Context(), token)
	if err != nil {
		t.Error(err)
	}
	return ok
}

func TestMembers(t *testing.T) {
	client := dial(t, etcdtest.Start(t))
	a, b := join(t, client), join(t, client)
	if a.Domain() != b.Domain() || a.Token() == b.Token() {
		t.Error(a.Domain(), b.Domain(), a.Token(), b.Token())
	}
	if list, err := Processes(t.Context(), client); err != nil || len(list) != 2 {
		t.Errorf("%v, %v", list, err)
	}
	if !alive(t, a, b.Token()) || !alive(t, a, a.Token()) || a.Valid() != nil {
		t.Error("two members are not alive")
	}
	if alive(t, a, "nobody") {
		t.Error("a token that never was is alive")
	}

	t.Run("leaves", func(t *testing.T) {
		if err := b.Leave(t.Context()); err != nil {
			t.Error(err)
		}
		if b.Valid() == nil {
			t.Error("a member that has left is valid")
		}
		until(t, "the others know", func() bool { return !alive(t, a, b.Token()) })
	})
	t.Run("falls silent", func(t *testing.T) {
		c := join(t, client)
		c.cancel() // no more signs of life, as in a process that was stopped
		c.work.Wait()
		var invalid time.Duration
		took := until(t, "the lease has expired", func() bool {
			if invalid == 0 && c.Valid() != nil {
				invalid = 1
			}
			return !alive(t, a, c.Token())
		})
		t.Logf("found dead after %v", took)
		if invalid == 0 || c.Valid() == nil {
			t.Error("others considered the process dead while it was valid")
		}
	})
	t.Run("its lease is taken away", func(t *testing.T) {
		c := join(t, client)
		if _, err := client.Revoke(t.Context(), c.lease); err != nil {
			t.Fatal(err)
		}
		select {
		case <-c.Lost():
		case <-time.After(time.Minute):
			t.Fatal("the member does not notice")
		}
		if !errors.Is(c.Valid(), oracle.ErrLapsed) {
			t.Error(c.Valid())
		}
		if err := c.Leave(t.Context()); err != nil {
			t.Error(err)
		}
	})
	if err := a.Leave(t.Context()); err != nil {
		t.Error(err)
	}
}

// TestEtcdAway: without etcd no process is found dead, and every process stops relying on
// its token in time. When etcd is back, both continue.
func TestEtcdAway(t *testing.T) {
	server := etcdtest.Start(t)
	client := dial(t, server)
	a, b := join(t, client), join(t, client)
	server.Kill()
	until(t, "both are invalid", func() bool { return a.Valid() != nil && b.Valid() != nil })
	if ok, err := a.Alive(t.Context(), b.Token()); err == nil || !ok {
		t.Errorf("without etcd: alive %v, %v", ok, err)
	}
	server.Restart()
	until(t, "etcd answers", func() bool { ok, err := a.Alive(t.Context(), "nobody"); return err == nil && !ok })
	for _, m := range []*Member{a, b} {
		until(t, "a member is valid again, or lost", func() bool { return m.Valid() == nil || m.isLost() })
		if err := m.Leave(t.Context()); err != nil {
			t.Error(err)
		}
	}
}

// TestStoppedMemberOfCluster: a member of the cluster that is stopped gets every second request
// and answers none, and no process is in danger.
func TestStoppedMemberOfCluster(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var requests atomic.Int64
		stopped := func(ctx context.Context) error {
			if requests.Add(1)%2 == 0 {
				return nil
			}
			<-ctx.Done()
			return ctx.Err()
		}
		m := &Member{ttl: oracle.TTL, lost: make(chan struct{}), seen: make(map[string]sighting)}
		m.renewOnce = func(ctx context.Context) (time.Duration, error) { return m.ttl, stopped(ctx) }
		m.look = func(ctx context.Context, _ string) (bool, error) { return true, stopped(ctx) }
		m.valid.Extend(time.Now(), m.ttl)
		ctx, cancel := context.WithCancel(t.Context())
		m.work.Go(func() { m.keepAlive(ctx) })
		for range 100 {
			time.Sleep(m.ttl / 10)
			if err := m.Valid(); err != nil {
				t.Fatal(err)
			}
		}
		for range 10 {
			if alive, err := m.Alive(t.Context(), "another"); !alive || err != nil {
				t.Errorf("alive %v, %v", alive, err)
			}
			time.Sleep(m.ttl)
		}
		cancel()
		m.work.Wait()
	})
}

// TestConnectsAgainSoon: etcd gives leases one time to live after it was away for however long,
// so a process may not pause for longer between two attempts to connect.
func TestConnectsAgainSoon(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var attempts atomic.Int64
	var accepting sync.WaitGroup
	accepting.Go(func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			attempts.Add(1)
			_ = c.Close()
		}
	})
	c, err := Dial([]string{l.Addr().String()}, nil)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	asking := make(chan error)
	go func() {
		_, err := c.Get(ctx, "a")
		asking <- err
	}()
	until(t, "it has tried to connect often", func() bool { return attempts.Load() >= 15 })
	cancel()
	if err := <-asking; err == nil {
		t.Error("an answer from nobody")
	}
	if err := errors.Join(l.Close(), c.Close()); err != nil && !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	accepting.Wait()
}

// TestNoAnswer: a process that reaches no etcd says which address fails and how.
func TestNoAnswer(t *testing.T) {
	server := etcdtest.Start(t)
	c := dial(t, server)
	server.Kill()
	_, err := Processes(t.Context(), c)
	if err == nil || !strings.Contains(err.Error(), server.Endpoint+": ") || !strings.Contains(err.Error(), "connection refused") || !strings.Contains(err.Error(), "setting") {
		t.Errorf("etcd was killed: %v", err)
	}
}
