package shardrpc

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"math"
	"net"
	"reflect"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/test/bufconn"

	"github.com/webindexer/indexer/index"
	"github.com/webindexer/indexer/index/postings"
	"github.com/webindexer/indexer/index/query"
	"github.com/webindexer/indexer/index/search"
	"github.com/webindexer/indexer/index/sketch"
	"github.com/webindexer/indexer/page"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// holder has two shards.
type holder struct {
	readers []*index.Reader
	gone    bool
	panics  chan error
}

func (h *holder) Shards() []Shard { return []Shard{{0, 2}, {1, 2}} }

func (h *holder) Begin(ctx context.Context, number, of int) (search.Session, error) {
	if h.gone || of != 2 || number > 1 {
		return nil, errors.New("not kept here")
	}
	return index.NewLocalShard("", h.readers[number]).Begin(ctx)
}

func serve(t *testing.T) (*holder, *Client, *Server) {
	t.Helper()
	h := &holder{panics: make(chan error, 1)}
	var writers []*index.Writer
	for range 2 {
		dir := t.TempDir()
		w, err := index.OpenWriter(t.Context(), dir, index.WriterOptions{})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = w.Close() })
		r, err := index.OpenReader(dir)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = r.Close() })
		writers, h.readers = append(writers, w), append(h.readers, r)
	}
	for i := range 40 {
		u := page.URL(fmt.Sprintf("https://site%d.example/%d", i%5, i))
		d := &index.Document{
			Cluster: sha256.Sum256([]byte(u)), Seq: 1, URL: u, Title: strings.Repeat("harbour ", i%3), Text: "the ferry leaves the harbour " + strings.Repeat("museum ", i%4), Language: "en",
			FetchedAt: time.Date(2024, 5, 1+i%20, 0, 0, 0, 0, time.UTC), Rank: float64(i % 6), Anchors: []index.Anchor{{Text: "harbour museum", Count: i}},
		}
		if err := writers[i%2].Apply(t.Context(), []index.Change{index.Upsert(d)}); err != nil {
			t.Fatal(err)
		}
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := Serve(l, h, func(err error) { h.panics <- err })
	c, err := Dial(l.Addr().String(), grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := errors.Join(c.Close(), s.Stop()); err != nil {
			t.Error(err)
		}
	})
	return h, c, s
}

var queries = []string{"harbour", "harbour museum", "config harbour", `"ferry leaves" -museum`, "site:site1.example", "musuem", "harbor", "after:2024-05-10 harbour", "nothing here", "intitle:harbour", "lang:en museum OR ferry"}

// TestSameAsLocal: shards elsewhere give the same results as those here.
func TestSameAsLocal(t *testing.T) {
	h, c, _ := serve(t)
	list, err := c.Shards(t.Context())
	if err != nil || !reflect.DeepEqual(list, h.Shards()) {
		t.Fatalf("shards %v, %v", list, err)
	}
	var here, there []search.ShardSource
	for i, s := range list {
		here, there = append(here, index.NewLocalShard(fmt.Sprint(i), h.readers[i])), append(there, c.Shard(s.Number, s.Of))
	}
	local, remote := search.NewShards(here), search.NewShards(there)
	for _, q := range queries {
		for _, o := range []search.Options{{}, {Explain: true, PerHost: 2, Limit: 30}, {Sort: search.ByDate, Offset: 3}, {Verbatim: true}} {
			want, err := local.Search(t.Context(), q, o)
			if err != nil {
				t.Fatal(err)
			}
			got, err := remote.Search(t.Context(), q, o)
			if err != nil {
				t.Fatal(err)
			}
			got.TookMS = want.TookMS
			if !reflect.DeepEqual(got, want) {
				t.Errorf("%s: %+v\nwant %+v", q, got, want)
			}
		}
	}
	n, err := remote.Count(t.Context())
	if err != nil || n != 40 {
		t.Errorf("%d documents, %v", n, err)
	}
	got, err := remote.Filters(t.Context())
	want, err2 := local.Filters(t.Context())
	if !reflect.DeepEqual(got, want) || err != nil || err2 != nil {
		t.Errorf("filters %v, want %v (%v, %v)", got, want, err, err2)
	}
}

// TestUnavailable: the error names a shard that its holder has left, or whose holder has gone.
func TestUnavailable(t *testing.T) {
	h, c, s := serve(t)
	local := index.NewLocalShard("here", h.readers[0])
	find := func(remote search.ShardSource) {
		t.Helper()
		res, err := search.NewShards([]search.ShardSource{local, remote}).Search(t.Context(), "harbour", search.Options{})
		if err != nil || len(res.Incomplete) != 1 || res.Total != 20 || !strings.Contains(res.Incomplete[0], "shard ") {
			t.Errorf("%+v, %v", res, err)
		}
	}
	find(c.Shard(2, 3))
	h.gone = true
	find(c.Shard(1, 2))
	h.gone = false
	session, err := c.Shard(1, 2).Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	s.grpc.Stop()
	if _, err := session.Ask(t.Context(), &search.Question{Stemmers: true}); !errors.Is(err, search.ErrUnavailable) {
		t.Errorf("a server that was stopped: %v", err)
	}
	if err := session.Close(); err != nil {
		t.Error(err)
	}
	find(c.Shard(1, 2))
	if _, err := c.Shards(t.Context()); !errors.Is(err, search.ErrUnavailable) || strings.Contains(err.Error(), "rpc error") {
		t.Errorf("a server that was stopped: %v", err)
	}
}

// TestOddQuestions: a question that no search asks, as one of another version may, and one that meets
// a bug get an error that says that the server panicked. The server reports the place, and goes on.
func TestOddQuestions(t *testing.T) {
	h, c, _ := serve(t)
	harbour := &query.Expr{Phrase: query.Phrase{Tokens: "harbour"}, In: postings.AllColumns}
	for name, q := range map[string]*search.Question{
		"empty word":           {Typed: &search.TypedQuestion{IDs: []int64{1}, Words: []string{""}}},
		"unknown operation":    {Counts: []search.Matching{{Expr: &query.Expr{Op: 77, Kids: []*query.Expr{harbour, harbour}}}}},
		"nothing to join":      {Counts: []search.Matching{{Expr: &query.Expr{Op: query.OpOr}}}},
		"exclusion of nothing": {Counts: []search.Matching{{Expr: &query.Expr{Op: query.OpNot, Kids: []*query.Expr{harbour}}}}},
		"too many":             {Best: &search.BestQuestion{Matching: search.Matching{Expr: harbour}, N: math.MaxInt, Statistics: search.Statistics{Rows: 1, Tokens: 1, Documents: []int{1}}}},
		"too few":              {Similar: &search.SimilarQuestion{Sketch: make([]byte, sketch.Size), N: -1}},
		"no edits":             {Near: &search.NearQuestion{Word: "ab", Most: -10}},
	} {
		session, err := c.Shard(0, 2).Begin(t.Context())
		if err != nil {
			t.Fatalf("before %s: %v", name, err)
		}
		if a, err := session.Ask(t.Context(), q); !errors.Is(err, search.ErrUnavailable) || !strings.Contains(err.Error(), "the process that keeps the shard panicked") {
			t.Errorf("%s: %+v, %v", name, a, err)
		}
		if told := <-h.panics; !strings.Contains(told.Error(), "panic: ") || !strings.Contains(told.Error(), "goroutine ") {
			t.Errorf("%s: the server reports %v, without the stack", name, told)
		}
		if a, err := session.Ask(t.Context(), &search.Question{Documents: true}); err != nil || a.Documents != 20 {
			t.Errorf("after %s: %+v, %v", name, a, err)
		}
		if err := session.Close(); err != nil {
			t.Error(err)
		}
	}
}

// TestDeepQuestion: a server refuses an expression that is nested very deeply, which could exhaust its stack,
// and continues to answer.
func TestDeepQuestion(t *testing.T) {
	_, c, _ := serve(t)
	deep := &query.Expr{Phrase: query.Phrase{Tokens: "harbour"}, In: postings.AllColumns}
	for range 1000 {
		deep = &query.Expr{Op: query.OpAnd, Kids: []*query.Expr{deep}}
	}
	for _, q := range []*search.Question{{Phrases: []*query.Expr{deep}}, {Counts: []search.Matching{{Expr: deep}}}, {Documents: true}} {
		session, err := c.Shard(0, 2).Begin(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if a, err := session.Ask(t.Context(), q); q.Documents != (err == nil) || err != nil && !strings.Contains(err.Error(), "nested too deeply") {
			t.Errorf("%+v, %v", a, err)
		}
		if err := session.Close(); err != nil {
			t.Error(err)
		}
	}
}

// TestEmptyPhrase: no document has a phrase without words, which no search asks for either.
func TestEmptyPhrase(t *testing.T) {
	_, c, _ := serve(t)
	session, err := c.Shard(0, 2).Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer session.Close()
	a, err := session.Ask(t.Context(), &search.Question{Counts: []search.Matching{{Expr: &query.Expr{In: postings.AllColumns}}}})
	if err != nil || len(a.Counts) != 1 || a.Counts[0] != 0 {
		t.Errorf("%+v, %v", a, err)
	}
}

// TestSilent: the error about a holder that accepts connections and is silent, as one that was
// stopped, says so.
func TestSilent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		pipe := func(context.Context, string) (net.Conn, error) {
			here, _ := net.Pipe()
			return here, nil
		}
		c, err := Dial("silent", grpc.WithTransportCredentials(insecure.NewCredentials()), grpc.WithContextDialer(pipe))
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		_, err = c.Shard(0, 1).Begin(t.Context())
		if !errors.Is(err, search.ErrUnavailable) || !strings.HasSuffix(err.Error(), ": no answer within 3s") {
			t.Error(err)
		}
	})
}

// stopped is a holder that begins sessions and then is silent.
type stopped struct{ search.Session }

func (stopped) Shards() []Shard { return nil }

func (stopped) Begin(context.Context, int, int) (search.Session, error) { return stopped{}, nil }

func (stopped) Ask(ctx context.Context, _ *search.Question) (*search.Answer, error) {
	<-ctx.Done()
	return nil, ctx.Err()
}

func (stopped) Close() error { return nil }

// TestStoppedAmidSearch: a holder that is stopped after a session has begun does not use up all
// the time of the search.
func TestStoppedAmidSearch(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := bufconn.Listen(1 << 10)
		s := Serve(l, stopped{}, nil)
		dial := func(ctx context.Context, _ string) (net.Conn, error) { return l.DialContext(ctx) }
		c, err := Dial("stopped", grpc.WithTransportCredentials(insecure.NewCredentials()), grpc.WithContextDialer(dial))
		if err != nil {
			t.Fatal(err)
		}
		session, err := c.Shard(0, 1).Begin(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if _, err := session.Ask(t.Context(), new(search.Question)); !errors.Is(err, search.ErrUnavailable) || !strings.HasSuffix(err.Error(), ": no answer within 5s") {
			t.Error(err)
		}
		if err := errors.Join(session.Close(), c.Close(), s.Stop()); err != nil {
			t.Error(err)
		}
	})
}

// slow is a holder that takes longer to complete what is typed than a client waits.
type slow struct {
	stopped
	begun context.Context
	made  chan error
}

func (s slow) Begin(ctx context.Context, _, _ int) (search.Session, error) {
	s.begun = ctx
	return s, nil
}

func (s slow) Ask(ctx context.Context, _ *search.Question) (*search.Answer, error) {
	select {
	case <-time.After(4 * answerWithin):
	case <-ctx.Done():
	}
	s.made <- errors.Join(ctx.Err(), s.begun.Err())
	return new(search.Answer), nil
}

// TestTableOutlivesItsClient: a shard makes its table of completions even if that takes longer than a
// client waits. Otherwise no client would ever get a completion. Only the end of the server ends that.
func TestTableOutlivesItsClient(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := bufconn.Listen(1 << 10)
		h := slow{made: make(chan error, 1)}
		s := Serve(l, h, nil)
		c, err := Dial("slow", grpc.WithTransportCredentials(insecure.NewCredentials()), grpc.WithContextDialer(func(ctx context.Context, _ string) (net.Conn, error) { return l.DialContext(ctx) }))
		if err != nil {
			t.Fatal(err)
		}
		ask := func(q *search.Question) {
			t.Helper()
			session, err := c.Shard(0, 1).Begin(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			if _, err := session.Ask(t.Context(), q); !errors.Is(err, search.ErrUnavailable) {
				t.Error(err)
			}
			if err := session.Close(); err != nil {
				t.Error(err)
			}
		}
		ask(&search.Question{Completion: new(search.CompletionQuestion)})
		if err := <-h.made; err != nil {
			t.Errorf("the table was not made: %v", err)
		}
		ask(&search.Question{Documents: true})
		if err := <-h.made; !errors.Is(err, context.Canceled) {
			t.Errorf("another answer for a client that has gone: %v", err)
		}
		ask(&search.Question{Completion: new(search.CompletionQuestion)})
		if err := errors.Join(c.Close(), s.Stop()); err != nil {
			t.Error(err)
		}
		if err := <-h.made; !errors.Is(err, context.Canceled) {
			t.Errorf("the server has ended: %v", err)
		}
	})
}

// TestNoDeadline: a session without a deadline would keep a state of the files for ever.
func TestNoDeadline(t *testing.T) {
	_, c, _ := serve(t)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	stream, err := c.conn.NewStream(ctx, &streamDesc, "/"+serviceName+"/"+streamName)
	if err != nil {
		t.Fatal(err)
	}
	if err := stream.RecvMsg(new(reply)); err == nil || !strings.Contains(err.Error(), "deadline") {
		t.Errorf("no deadline: %v", err)
	}
}

// TestServerIsBack: a server that was away for long is found as soon as it is back.
func TestServerIsBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := bufconn.Listen(1 << 10)
		s, began := Serve(l, new(holder), nil), time.Now()
		c, err := Dial("away", grpc.WithTransportCredentials(insecure.NewCredentials()), grpc.WithContextDialer(func(ctx context.Context, _ string) (net.Conn, error) {
			if time.Since(began) < 10*time.Minute {
				return nil, errors.New("nothing listens there")
			}
			return l.DialContext(ctx)
		}))
		if err != nil {
			t.Fatal(err)
		}
		ticker := time.NewTicker(time.Second)
		defer ticker.Stop()
		for _, err := c.Shards(t.Context()); err != nil && time.Since(began) < time.Hour; _, err = c.Shards(t.Context()) {
			<-ticker.C
		}
		if took := time.Since(began); took > 10*time.Minute+5*time.Second {
			t.Errorf("found after %v", took)
		}
		if err := errors.Join(c.Close(), s.Stop()); err != nil {
			t.Error(err)
		}
	})
}
