package hubtest

import (
	"fmt"
	"math/rand/v2"
	"net"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"time"
)

// A Fault is what goes wrong with a request.
type Fault struct {
	Name string // as tests print it

	Status int               // answer this instead; 0: the right one
	Header map[string]string // set on the answer, in place of what is right; "" takes one away
	Body   string            // of an answer with Status, or in place of the right one

	Reset     bool          // break the connection off before any answer
	Drop      int64         // break the connection off after so many bytes of the body; 0: do not
	Stay      time.Duration // with Drop: wait so long before the connection breaks off
	Chunked   bool          // claim no length
	Extra     int64         // claim and send so many bytes more than there are
	Short     int64         // claim and send so many bytes less than there are
	Flip      int64         // change the byte at this offset of the body, counted from 1; 0: none
	Trickle   time.Duration // a byte, then this wait, and so on
	Pause     time.Duration // wait after each 64 KiB
	Stall     time.Duration // wait so long before the body, then break off
	NoRange   bool          // send the whole file where a part is asked for
	WrongPart bool          // say that another part is sent than was asked for
}

// Random draws a fault that a client gets over, or reports.
func Random(rng *rand.Rand) *Fault {
	kinds := []Fault{
		{Name: "reset", Reset: true},
		{Name: "drop", Drop: 1 + rng.Int64N(1<<20)},
		{Name: "429", Status: 429, Header: map[string]string{"Retry-After": "0.01"}},
		{Name: "500", Status: 500}, {Name: "502", Status: 502}, {Name: "503", Status: 503},
		{Name: "short", Short: 1 + rng.Int64N(100)},
		{Name: "extra", Extra: 1 + rng.Int64N(100)},
		{Name: "flip", Flip: 1 + rng.Int64N(1000)},
		{Name: "wrong part", WrongPart: true},
		{Name: "no range", NoRange: true},
		{Name: "changed etag", Header: map[string]string{"X-Linked-Etag": `"` + strings.Repeat("0c", 32) + `"`, "ETag": `"other"`}},
		{Name: "stall", Stall: time.Minute},
	}
	return &kinds[rng.IntN(len(kinds))]
}

// serve answers r wrongly.
func (f *Fault) serve(s *Server, w http.ResponseWriter, r *http.Request, serve func(http.ResponseWriter, *http.Request)) {
	if f.Reset {
		breakOff(w)
		return
	}
	if f.NoRange {
		r.Header.Del("Range")
	}
	right := httptest.NewRecorder()
	if f.Status == 0 {
		serve(right, r)
	}
	body := right.Body.Bytes()
	code := right.Code
	for k, v := range right.Header() {
		w.Header()[k] = v
	}
	if f.Status != 0 {
		code = f.Status
	}
	if f.Status != 0 || f.Body != "" {
		body = []byte(f.Body)
		w.Header().Del("Content-Length")
	}
	if f.WrongPart && w.Header().Get("Content-Range") != "" {
		w.Header().Set("Content-Range", fmt.Sprintf("bytes 0-%d/%d", len(body)-1, len(body)))
	}
	for k, v := range f.Header {
		if w.Header().Set(k, v); v == "" {
			w.Header().Del(k)
		}
	}
	body = f.bend(body)
	if f.Chunked {
		w.Header().Del("Content-Length")
		w.WriteHeader(code)
		w.(http.Flusher).Flush()
	} else if code == http.StatusOK || code == http.StatusPartialContent {
		w.Header().Set("Content-Length", strconv.Itoa(len(body)))
		if f.Header["Content-Length"] != "" {
			w.Header().Set("Content-Length", f.Header["Content-Length"])
		}
	}
	if !f.Chunked {
		w.WriteHeader(code)
	}
	if r.Method == http.MethodHead {
		return
	}
	f.send(w, r, body)
}

// bend makes another body.
func (f *Fault) bend(body []byte) []byte {
	body = append([]byte(nil), body...)
	if f.Flip > 0 && f.Flip <= int64(len(body)) {
		body[f.Flip-1] ^= 0x20
	}
	if f.Short > 0 {
		body = body[:max(0, int64(len(body))-f.Short)]
	}
	return append(body, make([]byte, f.Extra)...)
}

func (f *Fault) send(w http.ResponseWriter, r *http.Request, body []byte) {
	if f.Stall > 0 {
		w.(http.Flusher).Flush()
		pause(r, f.Stall)
		breakOff(w)
		return
	}
	if f.Drop > 0 && f.Drop < int64(len(body)) {
		w.Write(body[:f.Drop])
		if f.Stay > 0 {
			w.(http.Flusher).Flush()
			pause(r, f.Stay)
		}
		panic(http.ErrAbortHandler) // which closes the connection
	}
	piece, wait := 1, f.Trickle
	if wait == 0 {
		piece, wait = 64<<10, f.Pause
	}
	for ; len(body) > 0; body = body[min(piece, len(body)):] {
		if _, err := w.Write(body[:min(piece, len(body))]); err != nil || wait > 0 && !pause(r, wait) {
			return
		}
		w.(http.Flusher).Flush()
	}
}

// pause waits, unless the client goes away.
func pause(r *http.Request, d time.Duration) bool {
	select {
	case <-r.Context().Done():
		return false
	case <-time.After(d):
		return true
	}
}

// breakOff ends the connection as a network does: with a reset.
func breakOff(w http.ResponseWriter) {
	c, _, err := w.(http.Hijacker).Hijack()
	if err != nil {
		panic(http.ErrAbortHandler)
	}
	if t, ok := c.(*net.TCPConn); ok {
		t.SetLinger(0)
	}
	c.Close()
}
