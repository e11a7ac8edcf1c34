package fetch

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/webindexer/indexer/internal/coding/codingtest"
)

// TestBudgetIsShared: requests that take room in any order, and some of which give up, never
// hold more than there is, and all end. (A bubble whose goroutines all wait fails the test.)
func TestBudgetIsShared(t *testing.T) {
	for seed := range uint64(50) {
		synctest.Test(t, func(t *testing.T) {
			const size = 1000
			b := NewBudget(2 * size)
			var mu sync.Mutex
			var payloads, decoded int64
			hold := func(sum *int64, n int64) {
				mu.Lock()
				defer mu.Unlock()
				if *sum += n; *sum > size {
					t.Errorf("seed %d: %d bytes are held of %d", seed, *sum, size)
				}
			}
			request := func(rng *rand.Rand) (gaveUp bool) {
				ctx, cancel := context.WithTimeout(context.Background(), time.Duration(1+rng.IntN(100))*time.Second)
				defer cancel()
				r := b.Reserve()
				defer r.Release()
				if rng.IntN(3) > 0 {
					if r.takePayload(ctx, rng.Int64N(2*size)) != nil {
						return true
					}
					hold(&payloads, r.payload.held)
					defer func() { hold(&payloads, -r.payload.held) }()
					time.Sleep(time.Duration(rng.IntN(10)) * time.Second)
				}
				if rng.IntN(3) > 0 {
					if r.takeDecoded(ctx, rng.Int64N(2*size)) != nil {
						return true
					}
					hold(&decoded, r.decoded.held)
					kept := rng.IntN(2 * size)
					hold(&decoded, min(0, int64(kept)-r.decoded.held)) // before others can take it
					r.keep(2*size, kept)
					defer func() { hold(&decoded, -r.decoded.held) }()
				}
				time.Sleep(time.Duration(rng.IntN(10)) * time.Second) // it is stored
				return false
			}
			var wg sync.WaitGroup
			var gaveUp, ended int
			for worker := range uint64(16) {
				wg.Go(func() {
					rng := rand.New(rand.NewPCG(seed, worker))
					for range 20 {
						if request(rng) {
							mu.Lock()
							gaveUp++
							mu.Unlock()
						}
						mu.Lock()
						ended++
						mu.Unlock()
					}
				})
			}
			wg.Wait()
			if ended != 320 || gaveUp == 0 || gaveUp > 200 || payloads != 0 || decoded != 0 {
				t.Errorf("seed %d: %d ended, %d of them gave up; %d and %d bytes are held in the end", seed, ended, gaveUp, payloads, decoded)
			}
		})
	}
}

// TestLargeBodiesTakeTurns: large bodies wait for each other for longer than an exchange may
// take, and none fails; small ones do not wait.
func TestLargeBodiesTakeTurns(t *testing.T) {
	text := bytes.Repeat([]byte("hello, world\n"), 1<<16)
	noise := make([]byte, 1<<20)
	rand.NewChaCha8([32]byte{}).Read(noise)
	zipped := codingtest.Encode(t, "gzip", noise)
	for _, c := range []struct {
		name          string
		head          string
		sent, body    []byte
		held, decoded int // of the two halves, when all has come
	}{
		{"with a length", fmt.Sprintf("Content-Length: %d\r\n", len(noise)), noise, noise, len(noise), 0},
		{"without a length", "", noise, noise, len(noise), 0},
		{"large when it is decoded", "Content-Encoding: gzip\r\n", codingtest.Encode(t, "gzip", text), text, 0, len(text)},
		{"large before and after", "Content-Encoding: gzip\r\n", zipped, noise, len(zipped), len(noise)},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				const requests, storing = 4, 3 * time.Minute
				s := pipeServer([]byte("HTTP/1.1 200 OK\r\n" + c.head + "\r\n" + string(c.sent)))
				quick := pipeServer([]byte(okHead + "small"))
				f := New(Options{Resolver: resolvesTo(public.String()), DialContext: s.dial})
				g := New(Options{Resolver: resolvesTo(public.String()), DialContext: quick.dial})
				b := NewBudget(3 << 20) // each half has room for one
				start := time.Now()
				var wg sync.WaitGroup
				for range requests {
					wg.Go(func() {
						memory := b.Reserve()
						defer memory.Release()
						res := f.Fetch(context.Background(), Request{URL: "http://large.test/", Reservation: memory})
						check(t, &res)
						if !bytes.Equal(res.Fetch.Body, c.body) || int(memory.payload.held) != c.held || int(memory.decoded.held) != c.decoded {
							t.Errorf("%d bytes (%v), for which %d and %d are reserved; want %d, %d and %d",
								len(res.Fetch.Body), res.Cause, memory.payload.held, memory.decoded.held, len(c.body), c.held, c.decoded)
						}
						if res.Timings.Total != res.Timings.Waited {
							t.Errorf("it took %v, of which it waited %v", res.Timings.Total, res.Timings.Waited)
						}
						time.Sleep(storing)
					})
				}
				synctest.Wait()
				res := g.Fetch(context.Background(), Request{URL: "http://small.test/", Reservation: b.Reserve()})
				if check(t, &res); string(res.Fetch.Body) != "small" || res.Timings.Total > 0 {
					t.Errorf("a small body: %q after %v (%v)", res.Fetch.Body, res.Timings.Total, res.Cause)
				}
				wg.Wait()
				if took := time.Since(start); took != requests*storing {
					t.Errorf("%d requests took %v; they did not take turns", requests, took)
				}
				f.Close()
				g.Close()
				s.wg.Wait()
				quick.wg.Wait()
			})
		})
	}
}

// TestWaitForMemoryEnds: a request that waits for memory ends with its context.
func TestWaitForMemoryEnds(t *testing.T) {
	body := bytes.Repeat([]byte("hello, world\n"), 1<<17)
	for name, stream := range map[string][]byte{
		"payload": append([]byte(okHead), body...),
		"decoded": append([]byte("HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\n\r\n"), codingtest.Encode(t, "gzip", body)...),
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := pipeServer(stream)
				f := New(Options{Resolver: resolvesTo(public.String()), DialContext: s.dial})
				b := NewBudget(2 << 20)
				other := b.Reserve()
				if err := errors.Join(other.takePayload(context.Background(), 1<<20), other.takeDecoded(context.Background(), 1<<20)); err != nil {
					t.Fatal(err)
				}
				ctx, cancel := context.WithTimeout(context.Background(), time.Hour)
				defer cancel()
				memory := b.Reserve()
				res := f.Fetch(ctx, Request{URL: "http://h.test/", Reservation: memory})
				check(t, &res)
				if res.Class != Canceled || res.Timings.Total != time.Hour || memory.Holds() {
					t.Errorf("%v after %v (%v); it holds memory: %t", res.Class, res.Timings.Total, res.Cause, memory.Holds())
				}
				f.Close()
				s.wg.Wait()
			})
		})
	}
}

// TestHangUpDuringWait: a server that closes the connection while a request waits for memory has done
// nothing wrong.
func TestHangUpDuringWait(t *testing.T) {
	stream := append([]byte("HTTP/1.1 200 OK\r\nContent-Length: 2000000\r\n\r\n"), bytes.Repeat([]byte("a"), 1<<20)...)
	for _, waits := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			s := pipeServer(stream)
			f := New(Options{Resolver: resolvesTo(public.String()), DialContext: s.dial})
			b := NewBudget(2 << 20)
			other := b.Reserve()
			if waits {
				if err := other.takePayload(context.Background(), 1<<20); err != nil {
					t.Fatal(err)
				}
				time.AfterFunc(time.Minute, other.Release)
			}
			memory := b.Reserve()
			res := f.Fetch(context.Background(), Request{URL: "http://h.test/", Reservation: memory})
			memory.Release()
			check(t, &res)
			if res.Class == OK || res.CountsAgainstHost() == waits || (res.Timings.Waited > 0) != waits {
				t.Errorf("waits %t: %v (%v) after a wait of %v counts: %t", waits, res.Class, res.Cause, res.Timings.Waited, res.CountsAgainstHost())
			}
			f.Close()
			s.wg.Wait()
		})
	}
}
