package fetch

import (
	"io"
	"log"
	"testing"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) {
	log.SetOutput(io.Discard) // net/http remarks on what the test servers do
	goleak.VerifyTestMain(m)
}
