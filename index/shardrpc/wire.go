// Package shardrpc searches the shards of an index on other machines. It carries the
// questions of a search (search.Question) to the process that has the files of a shard.
//
// A session is a gRPC stream. Its first message names a shard, and the server pins the
// state of that shard's files until the stream ends. So all answers of a session describe
// one state, and a client that dies leaves nothing open. Every session has a deadline.
//
// Messages are encoded with encoding/gob. All processes of a deployment must have the same
// version; a server answers a question that it does not know with an error.
package shardrpc

import (
	"bytes"
	"encoding/gob"
	"fmt"
	"time"

	"github.com/webindexer/indexer/index/search"

	"google.golang.org/grpc"
)

const (
	// maxQuestion and maxAnswer bound messages, in bytes.
	maxQuestion = 4 << 20
	maxAnswer   = 64 << 20
	// sessionWithin bounds a search, answerWithin each answer, and beginWithin how long a server
	// may take to begin: a stopped server delays a search by that time only once.
	sessionWithin = 15 * time.Second
	answerWithin  = 5 * time.Second
	beginWithin   = 3 * time.Second
)

// hello is the first message of a client: it begins a session on a shard, or asks which
// shards the server has.
type hello struct {
	Number, Of int
	List       bool
}

// reply is every message of a server.
type reply struct {
	Answer *search.Answer
	Shards []Shard // to hello with List
	Error  string  // "": none
}

// Shard names a shard.
type Shard struct{ Number, Of int }

func (s Shard) String() string { return fmt.Sprintf("shard %d of %d", s.Number, s.Of) }

const (
	serviceName = "indexer.Shards"
	streamName  = "Search"
)

var streamDesc = grpc.StreamDesc{StreamName: streamName, ServerStreams: true, ClientStreams: true}

// codec encodes each message as a gob stream of its own.
type codec struct{}

func (codec) Name() string { return "gob" }

func (codec) Marshal(v any) ([]byte, error) {
	var b bytes.Buffer
	if err := gob.NewEncoder(&b).Encode(v); err != nil {
		return nil, fmt.Errorf("encode a message about a shard: %w", err)
	}
	return b.Bytes(), nil
}

func (codec) Unmarshal(data []byte, v any) error {
	if err := gob.NewDecoder(bytes.NewReader(data)).Decode(v); err != nil {
		return fmt.Errorf("decode a message about a shard: %w", err)
	}
	return nil
}
