package fetch

import "time"

// timeLimit calls a function after a time that does not include pauses.
type timeLimit struct {
	timer  *time.Timer
	end    time.Time
	paused time.Duration
}

func startTimeLimit(d time.Duration, over func()) *timeLimit {
	return &timeLimit{timer: time.AfterFunc(d, over), end: time.Now().Add(d)}
}

func (l *timeLimit) stop() { l.timer.Stop() }

// pause calls wait. Its time does not count.
func (l *timeLimit) pause(wait func() error) error {
	l.stop()
	from := time.Now()
	err := wait()
	l.paused += time.Since(from)
	l.timer.Reset(time.Until(l.end.Add(l.paused)))
	return err
}
