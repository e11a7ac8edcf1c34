// Package etcd keeps liveness tokens as leases in etcd, as Percolator kept them in Chubby
// (OSDI 2010, section 2.2). With the setting etcd, it replaces the tokens that package oracle
// keeps in the table.
package etcd

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"time"

	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/webindexer/indexer/oracle"
)

// prefix of the keys of tokens. Tokens are unique, so deployments can share it.
const prefix = "/indexer/process/"

// requestTimeout bounds a request; etcd answers in milliseconds unless it elects a leader.
const requestTimeout = 2 * time.Second

// Member is this process as a lease in etcd. The key of its token exists for as long as
// the lease.
//
// Others consider the process dead when the key is gone, which etcd removes no earlier
// than one time to live after it received the last sign of life. The process counts from
// when it sent that, and only two thirds of the time (oracle.Deadline). When etcd elects a
// new leader, it gives all leases their whole time again, which can only help.
type Member struct {
	client *Client
	token  string
	domain string
	lease  clientv3.LeaseID
	ttl    time.Duration

	// One request each to etcd, which tests replace.
	renewOnce func(context.Context) (ttl time.Duration, err error)
	look      func(ctx context.Context, token string) (found bool, err error)

	valid  oracle.Deadline
	lost   chan struct{}
	cancel context.CancelFunc
	work   sync.WaitGroup

	mu   sync.Mutex
	sent time.Time // of the newest renewal that etcd has answered
	seen map[string]sighting
	self oracle.Process
}

// sighting is what etcd said about another process.
type sighting struct {
	asked time.Time
	dead  bool
}

// maxSightings bounds the memory of dead processes.
const maxSightings = 4096

// Join makes this process known in etcd, until Leave.
func Join(ctx context.Context, client *Client) (*Member, error) {
	m := &Member{client: client, token: oracle.NewToken(), lost: make(chan struct{}), seen: make(map[string]sighting)}
	m.renewOnce, m.look = m.keepAliveOnce, m.get
	granting, cancel := context.WithTimeout(ctx, 5*requestTimeout)
	defer cancel()
	var sent time.Time
	var grant *clientv3.LeaseGrantResponse
	err := repeat(granting, func(ctx context.Context) (err error) {
		sent = time.Now()
		grant, err = client.Grant(ctx, int64(oracle.TTL/time.Second)) // one whose answer is lost expires
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("etcd: get a lease: %w", client.explain(ctx, err))
	}
	m.lease, m.ttl = grant.ID, time.Duration(grant.TTL)*time.Second
	m.self = oracle.NewProcess(m.token)
	put, err := m.publish(granting)
	if err != nil {
		return nil, fmt.Errorf("etcd: make this process known: %w", client.explain(ctx, err))
	}
	m.domain = fmt.Sprintf("etcd cluster %x", put.Header.ClusterId)
	m.valid.Extend(sent, m.ttl)
	ctx, m.cancel = context.WithCancel(context.WithoutCancel(ctx))
	m.work.Go(func() { m.keepAlive(ctx) })
	return m, nil
}

// publish puts the key of the token. It goes with the lease, so it cannot bring back a token
// that has expired.
func (m *Member) publish(ctx context.Context) (put *clientv3.PutResponse, err error) {
	m.mu.Lock()
	self := m.self
	m.mu.Unlock()
	self.Beat = time.Now().UTC()
	value, err := json.Marshal(self)
	if err != nil {
		return nil, err
	}
	err = repeat(ctx, func(ctx context.Context) error {
		put, err = m.client.Put(ctx, prefix+m.token, string(value), clientv3.WithLease(m.lease))
		return err
	})
	return put, err
}

// Describe implements oracle.Member.
func (m *Member) Describe(ctx context.Context, d oracle.Description) error {
	m.mu.Lock()
	m.self.Description = d.Bounded()
	m.mu.Unlock()
	ctx, cancel := context.WithTimeout(ctx, requestTimeout)
	defer cancel()
	if _, err := m.publish(ctx); err != nil {
		return fmt.Errorf("etcd: describe this process: %w", err)
	}
	return nil
}

// Token implements txn.Liveness.
func (m *Member) Token() string { return m.token }

// Domain implements oracle.Member.
func (m *Member) Domain() string { return m.domain }

// Lost implements oracle.Member.
func (m *Member) Lost() <-chan struct{} { return m.lost }

// Valid implements txn.Liveness.
func (m *Member) Valid() error {
	if m.isLost() || m.valid.Passed() {
		return oracle.ErrLapsed
	}
	return nil
}

// keepAlive renews the lease. It does not wait for an answer before it sends the next request:
// one that reaches a stopped member of the cluster has none, and the next goes to another.
func (m *Member) keepAlive(ctx context.Context) {
	tick := time.NewTicker(m.ttl / 5)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-m.lost:
			return
		case <-tick.C:
		}
		m.work.Go(func() { m.renew(ctx) })
	}
}

func (m *Member) renew(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, m.ttl/2)
	defer cancel()
	sent := time.Now()
	ttl, err := m.renewOnce(ctx)
	m.mu.Lock()
	defer m.mu.Unlock()
	switch {
	case m.isLost():
	case err == nil && ttl > 0:
		if sent.After(m.sent) { // answers may overtake each other
			m.sent = sent
			m.valid.Extend(sent, ttl)
		}
	case err == nil, errors.Is(err, rpctypes.ErrLeaseNotFound):
		m.valid.End()
		close(m.lost)
	}
	// Any other error: the next request may succeed while the lease lasts.
}

// keepAliveOnce is one renewal. The client's own KeepAlive does not tell when it sent the
// request that was answered.
func (m *Member) keepAliveOnce(ctx context.Context) (time.Duration, error) {
	r, err := m.client.KeepAliveOnce(ctx, m.lease)
	if err != nil {
		return 0, err
	}
	return time.Duration(r.TTL) * time.Second, nil
}

func (m *Member) isLost() bool {
	select {
	case <-m.lost:
		return true
	default:
		return false
	}
}

// Alive implements txn.Liveness.
func (m *Member) Alive(ctx context.Context, token string) (bool, error) {
	if token == m.token {
		return !m.isLost(), nil
	}
	m.mu.Lock()
	g, known := m.seen[token]
	m.mu.Unlock()
	if known && (g.dead || time.Since(g.asked) < m.ttl/16) {
		return !g.dead, nil
	}
	ctx, cancel := context.WithTimeout(ctx, requestTimeout)
	defer cancel()
	var asked time.Time
	var found bool
	err := repeat(ctx, func(ctx context.Context) (err error) {
		asked = time.Now()
		found, err = m.look(ctx, token)
		return err
	})
	if err != nil {
		return true, fmt.Errorf("etcd: look for process %s: %w", token, err)
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if len(m.seen) >= maxSightings {
		clear(m.seen)
	}
	m.seen[token] = sighting{asked: asked, dead: !found}
	return found, nil
}

// get is one request for the key of a token.
func (m *Member) get(ctx context.Context, token string) (bool, error) {
	r, err := m.client.Get(ctx, prefix+token, clientv3.WithKeysOnly())
	if err != nil {
		return false, err
	}
	return len(r.Kvs) > 0, nil
}

// Leave implements oracle.Member.
func (m *Member) Leave(ctx context.Context) error {
	m.cancel()
	m.work.Wait()
	m.valid.End() // before others can see that the key is gone
	if m.isLost() {
		return nil
	}
	close(m.lost)
	ctx, cancel := context.WithTimeout(ctx, requestTimeout)
	defer cancel()
	err := repeat(ctx, func(ctx context.Context) error {
		_, err := m.client.Revoke(ctx, m.lease)
		return err
	})
	if err != nil && !errors.Is(err, rpctypes.ErrLeaseNotFound) {
		return fmt.Errorf("etcd: give up the lease (it expires in %v): %w", m.ttl, err)
	}
	return nil
}

// Processes lists the processes that have a token, of all deployments that use the cluster.
func Processes(ctx context.Context, client *Client) ([]oracle.Process, error) {
	bounded, cancel := context.WithTimeout(ctx, requestTimeout)
	defer cancel()
	var r *clientv3.GetResponse
	err := repeat(bounded, func(ctx context.Context) (err error) {
		r, err = client.Get(ctx, prefix, clientv3.WithPrefix())
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("etcd: list the processes: %w", client.explain(ctx, err))
	}
	list := make([]oracle.Process, 0, len(r.Kvs))
	for _, kv := range r.Kvs {
		var p oracle.Process
		if err := json.Unmarshal(kv.Value, &p); err != nil {
			return nil, fmt.Errorf("etcd: key %s: %w", kv.Key, err)
		}
		list = append(list, p)
	}
	return list, nil
}
