// Package httpapi holds what clients of OpenAI-compatible servers share: replies
// read to their end, the errors in them, the pauses that servers ask for.
//
//	request -> Doer -> whole reply, or StatusError, ErrTooLarge, a failed connection
//
// No error of this package quotes a key or a text that was sent.
package httpapi

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"strconv"
	"strings"
	"time"
	"unicode"

	goopenai "github.com/sashabaranov/go-openai"
)

// largestError is the longest body of status 200 that is searched for an error
// object.
const largestError = 64 << 10

// MaxUsage is more tokens than any request takes: a server that says more of what it
// charged is not believed.
const MaxUsage = 1 << 30

// ErrTooLarge: a reply is longer than [Doer].Max.
var ErrTooLarge = errors.New("reply is too large")

// A Doer makes requests and reads each reply to its end, so that a reply that is
// cut off, too large, or an error in spite of its status 200 is told from a
// malformed one. It follows no redirect: that would take key and texts to a server
// that nobody named, in a call that nobody counted.
type Doer struct {
	Client *http.Client
	Max    int64 // bytes of a reply, unpacked
}

// Do implements go-openai's HTTPDoer.
func (d Doer) Do(req *http.Request) (*http.Response, error) {
	client := *d.Client
	client.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	res, err := client.Do(req)
	if err != nil {
		return nil, err
	}
	defer res.Body.Close()
	body, err := io.ReadAll(io.LimitReader(res.Body, d.Max+1))
	if err != nil {
		return nil, fmt.Errorf("read reply: %w", err)
	}
	good := res.StatusCode < http.StatusMultipleChoices
	if int64(len(body)) > d.Max {
		if good {
			return nil, fmt.Errorf("%w: more than %d bytes", ErrTooLarge, d.Max)
		}
		body = nil // the status says enough
	}
	if redirects(res.StatusCode) { // to go-openai it is a success
		return nil, &goopenai.RequestError{HTTPStatusCode: res.StatusCode, HTTPStatus: res.Status, Err: errors.New(res.Status), Body: body}
	}
	if good && len(body) <= largestError {
		if api := ErrorObject(body); api != nil {
			return nil, api
		}
	}
	res.Body = io.NopCloser(bytes.NewReader(body))
	return res, nil
}

// Key returns the key in the environment variable called name. A line end around
// it, as files of secrets have one, is no part of it.
func Key(name string) (string, error) {
	key := strings.TrimSpace(os.Getenv(name))
	if key == "" {
		return "", fmt.Errorf("environment variable %s is empty", name)
	}
	if strings.ContainsFunc(key, unicode.IsControl) { // no header can hold it
		return "", fmt.Errorf("environment variable %s holds more than one line, or another control character", name)
	}
	return key, nil
}

func redirects(status int) bool {
	return status >= http.StatusMultipleChoices && status < http.StatusBadRequest
}

// ErrorObject returns the error in a reply, nil when it has none. Its status is
// the error's code if that is one, else 200.
func ErrorObject(body []byte) *goopenai.APIError {
	var reply struct{ Error json.RawMessage }
	if !bytes.Contains(body, []byte(`"error"`)) || json.Unmarshal(body, &reply) != nil {
		return nil
	}
	if len(reply.Error) == 0 || string(reply.Error) == "null" {
		return nil
	}
	api := &goopenai.APIError{}
	if json.Unmarshal(reply.Error, api) != nil {
		api = &goopenai.APIError{}
		_ = json.Unmarshal(reply.Error, &api.Message) // if it is not a string, there is no message
	}
	api.HTTPStatusCode = http.StatusOK
	if n, ok := api.Code.(int); ok && n >= http.StatusBadRequest && n < 600 {
		api.HTTPStatusCode = n
	}
	return api
}

// RetryAfter returns the pause that a server asks for, 0 if none.
func RetryAfter(h http.Header, now time.Time) time.Duration {
	if ms, err := strconv.ParseFloat(h.Get("Retry-After-Ms"), 64); err == nil && ms > 0 {
		return seconds(ms / 1000)
	}
	v := h.Get("Retry-After")
	if s, err := strconv.ParseFloat(v, 64); err == nil {
		return seconds(s)
	}
	if at, err := http.ParseTime(v); err == nil {
		return max(0, at.Sub(now))
	}
	return 0
}

// seconds converts s, at most a day, and 0 for what makes no sense.
func seconds(s float64) time.Duration {
	if !(s > 0) {
		return 0
	}
	return time.Duration(min(s, 24*60*60) * float64(time.Second))
}

// Malformed returns in words why a reply of a good status is not what it should
// be, without quoting it; empty when err is about something else.
func Malformed(err error) string {
	if errors.Is(err, ErrTooLarge) {
		return err.Error()
	}
	if e, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		return fmt.Sprintf("field %s has the wrong type", e.Field)
	}
	// A connection that ends early wraps the last two; the decoder returns them
	// bare for a body that is empty or ends early.
	if _, ok := errors.AsType[*json.SyntaxError](err); ok || err == io.EOF || err == io.ErrUnexpectedEOF {
		return "not JSON"
	}
	return ""
}
