package httpapi

import (
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/http"
	"slices"
	"strings"
	"time"

	goopenai "github.com/sashabaranov/go-openai"
)

// A StatusError is a refusal by the server.
type StatusError struct {
	Status  int    // HTTP status; of the error object, when that came with status 200
	Code    string // as the server has it, for example "insufficient_quota"
	Type    string
	Message string // empty when it quotes a text or the key
	Wait    time.Duration
}

// Error implements error.
func (e *StatusError) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "server answers %d", e.Status)
	for _, s := range []string{e.Code, e.Type, e.Message} {
		if s != "" {
			b.WriteString(": " + s)
		}
	}
	return b.String()
}

// Temporary reports whether the same request may succeed later.
func (e *StatusError) Temporary() bool {
	switch {
	case e.Code == "insufficient_quota" || e.Code == "billing_hard_limit_reached":
		return false
	case e.Status == 408 || e.Status == 425 || e.Status == 429:
		return true
	}
	return e.Status >= 500 && e.Status != 501 && e.Status != 505
}

// Lost reports whether the status is a gateway's word that it waited in vain for
// the server behind it, which may have done the work and charged for it.
func (e *StatusError) Lost() bool { return e.Status == 504 || e.Status == 524 }

// Undialled reports whether no connection came about over which a request could
// have gone: nobody charges for that.
func Undialled(err error) bool {
	op, ok := errors.AsType[*net.OpError](err)
	_, unknown := errors.AsType[*tls.CertificateVerificationError](err)
	_, plain := errors.AsType[tls.RecordHeaderError](err) // a server that does not speak TLS
	return ok && op.Op == "dial" || unknown || plain || errors.Is(err, http.ErrSchemeMismatch)
}

// longest is how much of a server's message is kept.
const longest = 200

// Status makes a StatusError of what go-openai returns; nil when err is none.
// What the server says is shown unless it quotes one of secret.
func Status(err error, secret ...string) *StatusError {
	e := &StatusError{}
	api, ok := errors.AsType[*goopenai.APIError](err)
	// First: a RequestError may wrap an APIError that could not be read.
	if req, odd := errors.AsType[*goopenai.RequestError](err); odd {
		e.Status = req.HTTPStatusCode
		if api = ErrorObject(req.Body); api == nil { // the body may be anything
			if redirects(e.Status) {
				e.Message = "redirects are not followed"
			}
			return e
		}
	} else if !ok {
		return nil
	} else {
		e.Status = api.HTTPStatusCode
	}
	e.Type, e.Message = Scrub(api.Type, secret...), Scrub(api.Message, secret...)
	if api.Code != nil {
		e.Code = Scrub(fmt.Sprint(api.Code), secret...)
	}
	return e
}

// quoteLen is how many bytes of a text must stand in a message to count as a
// quotation.
const quoteLen = 16

// Scrub returns the start of message in one line, or nothing if it quotes one of
// secret.
func Scrub(message string, secret ...string) string {
	message = strings.Join(strings.Fields(message), " ")
	if len(message) > longest {
		message = strings.ToValidUTF8(message[:longest], "")
	}
	for _, s := range secret {
		if quotes(message, strings.Join(strings.Fields(s), " ")) {
			return ""
		}
	}
	return message
}

// quotes reports whether message holds quoteLen bytes of text in a row, or all of
// a shorter one that is long enough to mean something.
func quotes(message, text string) bool {
	const least = 4
	if len(text) < quoteLen {
		return len(text) >= least && strings.Contains(message, text)
	}
	for i := 0; i+quoteLen <= len(message); i++ {
		if strings.Contains(text, message[i:i+quoteLen]) {
			return true
		}
	}
	return false
}

// longestBroken is the longest text of a failed connection that is searched for
// quotations.
const longestBroken = 1 << 10

// Quiet returns err, which is no answer of a server. What a server sends instead of
// HTTP stands in such an error; when that quotes one of secret, or is long, another
// text takes the place of err's own.
func Quiet(err error, secret ...string) error {
	if err == nil {
		return nil
	}
	said := err.Error()
	if len(said) > longestBroken || slices.ContainsFunc(secret, func(s string) bool { return quotes(said, strings.Join(strings.Fields(s), " ")) }) {
		return quiet{err}
	}
	return err
}

// quiet hides the text of an error.
type quiet struct{ err error }

func (quiet) Error() string   { return "connection failed: what the server sent is not HTTP" }
func (q quiet) Unwrap() error { return q.err }
