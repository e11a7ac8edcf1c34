package txn

import (
	"fmt"
	"strings"
	"testing/synctest"
	"time"

	"github.com/cockroachdb/datadriven"
)

// session is a transaction, with a goroutine while it does something.
type session struct {
	name         string
	tx           *Txn
	until, where string
	crashed      bool
	busy         bool // waiting for something
	stopped      bool // before a step
	said         chan said
	goOn         chan error
}

type said struct {
	text    string
	stopped bool
}

func (h *history) commit(s *session, args []datadriven.CmdArg) (string, error) {
	s.until, s.where = "", ""
	for _, a := range args[1:] {
		switch a.Key {
		case "until":
			s.until = a.Vals[0]
		case "cell":
			s.where = a.Vals[0]
		}
	}
	h.running = s
	if s.stopped {
		return h.resume(s, nil), nil
	}
	return h.do(s, func() (string, error) {
		ts, err := s.tx.Commit(h.ctx)
		out := fmt.Sprintf("committed at %d", ts)
		if len(h.told) > 0 {
			out += "; handed over: " + showNotes(h.told)
			h.told = nil
		}
		if err != nil && ts != 0 {
			out += "; " + err.Error()
			err = nil
		}
		return out, err
	}), nil
}

// step is Options.Step.
func (h *history) step(step string, cell Cell) error {
	s := h.running
	if s == nil || s.until != step || (s.where != "" && s.where != cell.Row) {
		return nil
	}
	s.said <- said{strings.TrimSpace(fmt.Sprintf("before %s %s %s", step, cell.Row, cell.Name)), true}
	return <-s.goOn
}

func (h *history) do(s *session, fn func() (string, error)) string {
	s.busy = true
	h.work.Go(func() {
		text, err := fn()
		if err != nil {
			text = "error: " + err.Error()
		}
		s.said <- said{text, false}
	})
	return h.await(s)
}

func (h *history) resume(s *session, err error) string {
	if !s.stopped {
		return "error: not stopped"
	}
	h.running = s
	s.stopped = false
	s.goOn <- err
	return h.await(s)
}

// await returns what a session says next, or that it waits. Without fake time
// there is no telling, and no history in which one waits.
func (h *history) await(s *session) string {
	var msg said
	if h.bubble {
		synctest.Wait()
		select {
		case msg = <-s.said:
		default:
			return "waits"
		}
	} else {
		msg = <-s.said
	}
	s.stopped, s.busy = msg.stopped, msg.stopped
	return msg.text
}

func (h *history) advance(duration string) (string, error) {
	d, err := time.ParseDuration(duration)
	if err != nil {
		return "", err
	}
	time.Sleep(d)
	var out []string
	for _, name := range h.names {
		if s := h.sessions[name]; s.busy && !s.stopped {
			out = append(out, name+": "+h.await(s))
		}
	}
	return strings.Join(out, "; "), nil
}

// die ends the process: whatever has not finished crashes.
func (h *history) die() {
	for _, name := range h.names {
		if s := h.sessions[name]; s.stopped {
			h.resume(s, ErrCrash)
		}
	}
	for _, name := range h.names {
		h.sessions[name].tx.Rollback()
	}
	if h.db != nil {
		if err := h.db.Close(); err != nil {
			h.t.Error(err)
		}
	}
}
