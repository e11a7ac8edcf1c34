package scalebench

import (
	"context"
	"fmt"
	"os"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

// pause waits for a time, or until the context ends.
//
// A timer of Go is up to a millisecond late, because an idle program waits for its next timer in
// whole milliseconds, and even later with many timers. A delay of 2 ms was 2.3 ms with one worker
// and 2.7 ms with eight, which looked like interference between workers. A timer of the kernel is
// late by a tenth of that.
func pause(ctx context.Context, d time.Duration) error {
	w, err := idleTimer()
	if err != nil {
		return err
	}
	at := unix.ItimerSpec{Value: unix.NsecToTimespec(d.Nanoseconds())}
	if err := unix.TimerfdSettime(w.fd, 0, &at, nil); err != nil {
		return fmt.Errorf("set a timer: %w", err)
	}
	stop := context.AfterFunc(ctx, func() { _ = w.SetReadDeadline(time.Unix(1, 0)) })
	_, err = w.Read(make([]byte, 8)) // how often it has expired
	if !stop() {
		return context.Cause(ctx) // with a deadline, the timer is of no more use
	}
	if err != nil {
		return fmt.Errorf("wait for a timer: %w", err)
	}
	timers.Put(w)
	return nil
}

// timer is a timer of the kernel. The garbage collector closes unused ones.
type timer struct {
	*os.File
	fd int
}

var timers sync.Pool

func idleTimer() (*timer, error) {
	if w, ok := timers.Get().(*timer); ok {
		return w, nil
	}
	fd, err := unix.TimerfdCreate(unix.CLOCK_MONOTONIC, unix.TFD_NONBLOCK|unix.TFD_CLOEXEC)
	if err != nil {
		return nil, fmt.Errorf("make a timer: %w", err)
	}
	return &timer{os.NewFile(uintptr(fd), "timer"), fd}, nil
}
