package bigtable

import (
	"fmt"
	"os"

	"google.golang.org/api/option"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
)

// hostVariable is the environment variable in which all of Google's tools look for an
// emulator.
const hostVariable = "BIGTABLE_EMULATOR_HOST"

// maxMessage is the size of the largest message, as in the client's own connections. The
// emulator sends a row as one message, however large it is.
const maxMessage = 256 << 20

// dial returns the options of the client for a location: the caller's and, for an emulator, a
// connection. The client closes it.
//
// If hostVariable is set, the client also makes a connection of its own, which it then
// neither uses nor closes. So tests name the emulator in the URL.
func (l *location) dial(opts []option.ClientOption) ([]option.ClientOption, error) {
	host := l.emulator
	if host == "" {
		host = os.Getenv(hostVariable)
	}
	if host == "" {
		return opts, nil
	}
	conn, err := grpc.NewClient("passthrough:///"+host, grpc.WithTransportCredentials(insecure.NewCredentials()),
		grpc.WithDefaultCallOptions(grpc.MaxCallRecvMsgSize(maxMessage), grpc.MaxCallSendMsgSize(maxMessage)))
	if err != nil {
		return nil, fmt.Errorf("store: bigtable: connect to the emulator at %s: %w", host, err)
	}
	return append(opts[:len(opts):len(opts)], option.WithGRPCConn(conn)), nil
}
