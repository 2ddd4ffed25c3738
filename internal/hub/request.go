package hub

import (
	"bytes"
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"time"
)

const (
	maxRedirects = 10
	maxWait      = 20 * time.Second // between two attempts, unless the Hub asks for more
	maxAsked     = 5 * time.Minute  // the longest wait that the Hub may ask for
	connects     = 3                // attempts where not even a connection is made: there is no network
	maxOdd       = 2                // attempts where the answer is wrong: a second one shows that it was no accident
	maxSlow      = 3                // attempts that are slower than Client.MinRate
)

// What ends a request whose server is too slow: it sends nothing, or less than Client.MinRate, or an answer of the API takes longer than
// Client.Answer.
var (
	errIdle = errors.New("the server has stopped sending")
	errSlow = errors.New("the server sends next to nothing")
	errLong = errors.New("the answer does not end")
)

func newHTTP() *http.Client {
	t := http.DefaultTransport.(*http.Transport).Clone()
	t.DisableCompression = true // sizes, ranges and hashes are of the bytes as stored
	t.MaxIdleConnsPerHost = 8
	t.WriteBufferSize, t.ReadBufferSize = 16<<10, 256<<10
	return &http.Client{Transport: t, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
}

// A transient error may be gone at the next attempt.
type transient struct {
	err     error
	after   time.Duration // that the Hub asked to wait; 0: it did not say
	connect bool          // no connection was made
	odd     bool          // the answer contradicts what was asked or listed, which rarely passes
	slow    bool          // the server sends less than Client.MinRate
}

func (t *transient) Error() string { return t.err.Error() }
func (t *transient) Unwrap() error { return t.err }

// odd is the transient error of an answer that is wrong.
func odd(format string, args ...any) error {
	return &transient{err: fmt.Errorf(format, args...), odd: true}
}

// retry calls op until it succeeds, fails for good, or has failed as often in a row as Client.Attempts without getting any further,
// which moved reports in bytes (nil: it never does). Wrong and slow answers are final sooner, however far they got. Notices name what.
func (c *Client) retry(ctx context.Context, what string, moved func() int64, op func() error) error {
	var mark int64
	wrong, slow := 0, 0
	for failed := 1; ; failed++ {
		err := op()
		var t *transient
		if err == nil || !errors.As(err, &t) {
			return err
		}
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if moved != nil && moved() >= mark+64<<10 {
			mark, failed = moved(), 1
		}
		if t.odd {
			wrong++
		}
		if t.slow {
			slow++
		}
		switch {
		case wrong >= maxOdd:
			return &Error{Network, fmt.Sprintf("%s: %v (%d times)", what, t, wrong), t}
		case slow >= maxSlow:
			return &Error{Network, fmt.Sprintf("%s: %v (%d times): try again later, or allow less by %s (bytes a second; 0: any)", what, t, slow, minRateVariable), t}
		case t.after > maxAsked:
			return &Error{Network, fmt.Sprintf("%s: %v, and asks to wait for %s: try again then", what, t, t.after.Round(time.Second)), t}
		case failed >= c.Attempts, t.connect && failed >= connects:
			return &Error{Network, fmt.Sprintf("%s: %v (%d attempts)", what, t, failed), t}
		}
		wait := max(t.after, min(c.Backoff<<(failed-1), maxWait))
		c.notice("%s: %v; trying again in %s", what, t, wait.Round(100*time.Millisecond))
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-time.After(wait):
		}
	}
}

// An answer is a response whose body is read under Client.Idle, and what the responses that led to it said of the file.
type answer struct {
	*http.Response
	body   io.Reader
	commit string // X-Repo-Commit; "" where none was sent
	etag   string // of the file: X-Linked-Etag, or the ETag that the Hub itself sent; "" where none was
	close  func()
}

// send sends a request, follows redirects and returns an answer of status 200 or 206; others are errors. The token goes to
// the Hub alone.
func (c *Client) send(ctx context.Context, method, address string, header http.Header, body []byte) (*answer, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	watch := newWatch(c, cancel)
	a := &answer{close: func() { watch.timer.Stop(); cancel(nil) }}
	if err := c.follow(ctx, a, method, address, header, body); err != nil {
		a.close()
		return nil, err
	}
	watch.saw(1)
	stop, res := a.close, a.Response
	a.close = func() { stop(); res.Body.Close() }
	a.body = &watched{res.Body, ctx, watch}
	if res.StatusCode != http.StatusOK && res.StatusCode != http.StatusPartialContent {
		defer a.close()
		return nil, c.failed(a, address)
	}
	return a, nil
}

func (c *Client) follow(ctx context.Context, a *answer, method, address string, header http.Header, body []byte) error {
	at, err := url.Parse(address)
	if err != nil {
		return err
	}
	for range maxRedirects {
		req, err := http.NewRequestWithContext(ctx, method, at.String(), bytes.NewReader(body))
		if err != nil {
			return err
		}
		for k, v := range header {
			req.Header[k] = v
		}
		req.Header.Set("User-Agent", "rlprep")
		req.Header.Set("Accept-Encoding", "identity")
		ours := c.isHub(at)
		if ours && c.Token != "" {
			req.Header.Set("Authorization", "Bearer "+c.Token)
		}
		res, err := c.http.Do(req)
		if err != nil {
			return c.broken(ctx, at, err)
		}
		if ours {
			a.commit = or(res.Header.Get("X-Repo-Commit"), a.commit)
			a.etag = or(res.Header.Get("X-Linked-Etag"), or(a.etag, res.Header.Get("ETag")))
		}
		next := res.Header.Get("Location")
		if res.StatusCode < 300 || res.StatusCode > 399 || next == "" {
			a.Response = res
			return nil
		}
		_, _ = io.CopyN(io.Discard, res.Body, 4096) // so that the connection can be used again
		res.Body.Close()
		to, err := at.Parse(next)
		switch {
		case err != nil, to.Scheme != "http" && to.Scheme != "https", to.Host == "":
			return fmt.Errorf("%s redirects to %q, which is no address", at.Host, cut(next))
		case at.Scheme == "https" && to.Scheme == "http":
			return fmt.Errorf("%s redirects to %s without encryption: refused", at.Host, to.Host)
		}
		at = to
	}
	return fmt.Errorf("%s: more than %d redirects", at.Host, maxRedirects)
}

func cut(s string) string {
	if len(s) > 100 {
		return s[:100] + "…"
	}
	return s
}

// isHub reports whether u is on the Hub itself: the same scheme, host and port.
func (c *Client) isHub(u *url.URL) bool {
	e, err := url.Parse(c.Endpoint)
	return err == nil && u.Scheme == e.Scheme && strings.EqualFold(u.Host, e.Host)
}

// broken is the error of a request that got no answer, or whose answer broke off.
func (c *Client) broken(ctx context.Context, at *url.URL, err error) error {
	cause := context.Cause(ctx)
	if cause == nil && (errors.Is(err, errIdle) || errors.Is(err, errSlow)) { // of the request's own context
		cause = err
	}
	switch {
	case cause == nil:
	case errors.Is(cause, errIdle):
		return &transient{err: fmt.Errorf("%s: %w (%v)", at.Host, errIdle, c.Idle)}
	case errors.Is(cause, errSlow):
		return &transient{err: fmt.Errorf("%s: %w (less than %d bytes a second for %v)", at.Host, errSlow, c.MinRate, c.Window), slow: true}
	case errors.Is(cause, errLong):
		return odd("%s: %w (%v)", at.Host, errLong, c.Answer)
	default:
		return cause
	}
	var u *url.Error
	if errors.As(err, &u) {
		err = u.Err
	}
	if final(err) {
		return fmt.Errorf("%s: %w", at.Host, err)
	}
	if said := err.Error(); strings.Contains(said, "malformed") || strings.Contains(said, "response headers exceeded") { // no HTTP
		return odd("%s: %w", at.Host, err)
	}
	var op *net.OpError
	connect := errors.As(err, &op) && op.Op == "dial" || errors.As(err, new(*net.DNSError)) || errors.Is(err, syscall.ECONNREFUSED)
	if connect {
		err = fmt.Errorf("cannot reach %s: %w", at.Host, err)
	} else {
		err = fmt.Errorf("%s: %w", at.Host, err)
	}
	return &transient{err: err, connect: connect}
}

// final reports whether no other attempt can help: there is no TLS, its certificate is not trusted, or a redirect leads nowhere.
func final(err error) bool {
	return errors.As(err, new(tls.RecordHeaderError)) || errors.As(err, new(*tls.CertificateVerificationError)) ||
		strings.Contains(err.Error(), "server gave HTTP response to HTTPS client") || strings.Contains(err.Error(), "failed to parse Location")
}

// failed is the error of an answer with a status of failure.
func (c *Client) failed(a *answer, address string) error {
	res := a.Response
	switch code := res.StatusCode; code {
	case http.StatusRequestTimeout, http.StatusTooManyRequests, http.StatusInternalServerError, http.StatusBadGateway,
		http.StatusServiceUnavailable, http.StatusGatewayTimeout:
		return &transient{err: fmt.Errorf("%s answers %d %s", res.Request.URL.Host, code, http.StatusText(code)), after: askedWait(res.Header)}
	}
	body, _ := io.ReadAll(io.LimitReader(a.body, 4096))
	said := res.Header.Get("X-Error-Message")
	var js struct {
		Error string `json:"error"`
	}
	if said == "" && json.Unmarshal(body, &js) == nil {
		said = js.Error
	}
	return &statusError{code: res.StatusCode, name: res.Header.Get("X-Error-Code"), message: cut(printable(said)), host: res.Request.URL.Host, hub: c.isHub(res.Request.URL)}
}

// askedWait is how long the Hub asks to wait: Retry-After, in seconds or as a date, or the time in RateLimit ("r=0;t=55").
func askedWait(h http.Header) time.Duration {
	if s := h.Get("Retry-After"); s != "" {
		if n, err := strconv.ParseFloat(s, 64); err == nil && n >= 0 && n < 1e9 {
			return time.Duration(n * float64(time.Second))
		}
		if t, err := http.ParseTime(s); err == nil {
			return max(time.Until(t), 0)
		}
	}
	for _, part := range strings.FieldsFunc(h.Get("RateLimit"), func(r rune) bool { return r == ';' || r == ',' || r == ' ' }) {
		if n, err := strconv.Atoi(strings.TrimPrefix(part, "t=")); err == nil && strings.HasPrefix(part, "t=") && n >= 0 {
			return time.Duration(n) * time.Second
		}
	}
	return 0
}

// A statusError is an answer that says no.
type statusError struct {
	code          int
	name, message string // X-Error-Code and what the Hub says
	host          string
	hub           bool // it came from the Hub itself
}

func (e *statusError) Error() string {
	s := fmt.Sprintf("%s answers %d %s", e.host, e.code, http.StatusText(e.code))
	if e.message != "" {
		s += ": " + e.message
	}
	return s
}

// explain makes an Error of one about an address: what the answer means, and what helps.
func (c *Client) explain(a Address, err error) error {
	var e *statusError
	name := a.String()
	switch {
	case errors.As(err, new(*transient)), errors.As(err, new(*Error)), errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return err
	case !errors.As(err, &e):
		return &Error{Network, fmt.Sprintf("%s: %v", name, err), err}
	}
	whole := Address{Repo: a.Repo}.String()
	token := "set HF_TOKEN to a token that may read it"
	if c.Token != "" {
		token = "the token in use may not read it"
	}
	refuse := func(format string, args ...any) error {
		return &Error{Refused, fmt.Sprintf(format, args...), err}
	}
	gated := e.name == "GatedRepo" || strings.Contains(strings.ToLower(e.message), "gated") || strings.Contains(e.message, "restricted")
	switch {
	case !e.hub && e.code == http.StatusForbidden:
		return &transient{err: e} // an address on the CDN that is valid no more
	case gated:
		return refuse("%s: a gated dataset (%v): accept its terms at %s/datasets/%s, then %s", whole, e, c.Endpoint, a.Repo, token)
	case e.name == "RevisionNotFound":
		return refuse("%s: the dataset has no revision %q", name, a.revision())
	case e.name == "EntryNotFound":
		return refuse("%s: the dataset has no such file", name)
	case e.code == http.StatusUnauthorized && strings.Contains(e.message, "Invalid credentials"):
		return refuse("%s: %v: the token in use is not valid: renew HF_TOKEN, or the one that 'hf auth login' wrote", whole, e)
	case e.code == http.StatusUnauthorized, e.code == http.StatusForbidden, e.name == "RepoNotFound":
		return refuse("%s: %v: there is no such dataset, or it is private: check the name, or %s", whole, e, token)
	case e.code == http.StatusNotFound:
		return refuse("%s: %v", name, e)
	}
	return &Error{Network, fmt.Sprintf("%s: %v", name, e), err}
}

// A watch ends a request when nothing arrives for Client.Idle, or less than Client.MinRate over Client.Window. Only the time that is spent
// waiting for bytes counts.
type watch struct {
	timer  *time.Timer
	idle   time.Duration
	window time.Duration
	need   int64 // bytes in a window; 0: any
	cause  atomic.Value

	begun  time.Time     // of the current wait
	quiet  time.Duration // waited since the last byte
	waited time.Duration // of the window
	n      int64         // bytes in the window
}

func newWatch(c *Client, cancel context.CancelCauseFunc) *watch {
	w := &watch{idle: c.Idle, window: c.Window, need: int64(float64(c.MinRate) * c.Window.Seconds()), begun: time.Now()}
	w.cause.Store(errIdle)
	w.timer = time.AfterFunc(c.Idle, func() { cancel(w.cause.Load().(error)) })
	return w
}

func (w *watch) wait() {
	w.begun = time.Now()
	left, cause := w.idle-w.quiet, errIdle
	if w.need > 0 && w.window-w.waited < left {
		left, cause = w.window-w.waited, errSlow
	}
	w.cause.Store(cause)
	w.timer.Reset(max(left, 0))
}

func (w *watch) saw(n int) {
	w.timer.Stop()
	d := time.Since(w.begun)
	w.quiet, w.waited = w.quiet+d, w.waited+d
	if n > 0 {
		w.quiet = 0
	}
	if w.n += int64(n); w.n >= w.need {
		w.n, w.waited = 0, 0
	}
}

// A watched body reads under a watch.
type watched struct {
	r     io.Reader
	ctx   context.Context
	watch *watch
}

// Read implements io.Reader.
func (w *watched) Read(b []byte) (int, error) {
	w.watch.wait()
	n, err := w.r.Read(b)
	w.watch.saw(n)
	if err != nil && err != io.EOF && w.ctx.Err() != nil {
		err = context.Cause(w.ctx)
	}
	return n, err
}
