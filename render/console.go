package render

import (
	"encoding/json"
	"strings"

	"github.com/chromedp/cdproto/runtime"
)

func (s *session) console(line string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.result.Console) >= s.limits.ConsoleLines {
		return
	}
	line = strings.ToValidUTF8(line[:min(len(line), s.limits.ConsoleLength)], "")
	s.result.Console = append(s.result.Console, line)
}

func argumentsOf(args []*runtime.RemoteObject) string {
	var b strings.Builder
	for i, a := range args {
		if i > 0 {
			b.WriteByte(' ')
		}
		var text string
		if json.Unmarshal(a.Value, &text) == nil {
			b.WriteString(text)
		} else if a.Description != "" {
			b.WriteString(a.Description)
		} else {
			b.Write(a.Value)
		}
	}
	return b.String()
}

func exceptionOf(d *runtime.ExceptionDetails) string {
	if d.Exception != nil && d.Exception.Description != "" {
		return d.Exception.Description
	}
	return d.Text
}
