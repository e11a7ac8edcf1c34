package scalebench

import (
	"context"
	"net"
	"sync"
	"time"
)

// A delayLine is a proxy in front of a server that is farther away: what passes arrives
// later, and as fast as it was sent. Unlike slow, it delays a batch of statements once.
type delayLine struct {
	listener net.Listener
	network  string
	address  string
	delay    time.Duration // in each direction
	pumps    sync.WaitGroup

	mu   sync.Mutex
	open map[net.Conn]bool // nil once it is closed
}

// packet is what was read at once.
type packet struct {
	bytes []byte
	due   time.Time
}

// maxUnderWay bounds the packets of a direction that have not arrived.
const maxUnderWay = 256

// newDelayLine starts a proxy on a loopback address.
func newDelayLine(ctx context.Context, network, address string, delay time.Duration) (*delayLine, error) {
	l, err := (&net.ListenConfig{}).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	d := &delayLine{listener: l, network: network, address: address, delay: delay, open: make(map[net.Conn]bool)}
	d.pumps.Go(d.serve)
	return d, nil
}

func (d *delayLine) Addr() net.Addr { return d.listener.Addr() }

// Close breaks all connections and waits until nothing is under way.
func (d *delayLine) Close() error {
	err := d.listener.Close()
	d.mu.Lock()
	for c := range d.open {
		_ = c.Close() // closing twice is harmless
	}
	d.open = nil
	d.mu.Unlock()
	d.pumps.Wait()
	return err
}

func (d *delayLine) serve() {
	for {
		client, err := d.listener.Accept()
		if err != nil {
			return // closed
		}
		server, err := net.Dial(d.network, d.address)
		if err != nil {
			_ = client.Close() // the client learns it, and tries again
			continue
		}
		if !d.keep(client, server) {
			return
		}
		d.pumps.Go(func() { d.pump(server, client) })
		d.pumps.Go(func() { d.pump(client, server) })
	}
}

// keep notes the connections that Close breaks. After Close, it breaks them itself.
func (d *delayLine) keep(conns ...net.Conn) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, c := range conns {
		if d.open == nil {
			_ = c.Close()
			continue
		}
		d.open[c] = true
	}
	return d.open != nil
}

func (d *delayLine) drop(conns ...net.Conn) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, c := range conns {
		_ = c.Close()
		delete(d.open, c)
	}
}

// pump moves bytes in one direction until either end is closed.
func (d *delayLine) pump(to, from net.Conn) {
	underWay := make(chan packet, maxUnderWay)
	var writer sync.WaitGroup
	writer.Go(func() {
		defer d.drop(to, from)
		for p := range underWay {
			time.Sleep(time.Until(p.due))
			if _, err := to.Write(p.bytes); err != nil {
				d.drop(to, from) // ends the reader
			}
		}
	})
	for {
		buffer := make([]byte, 16<<10)
		n, err := from.Read(buffer)
		if n > 0 {
			underWay <- packet{buffer[:n], time.Now().Add(d.delay)}
		}
		if err != nil {
			break
		}
	}
	close(underWay)
	writer.Wait()
}
