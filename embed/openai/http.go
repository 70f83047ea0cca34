package openai

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"time"

	goopenai "github.com/sashabaranov/go-openai"
)

// largestError is the longest body of status 200 that is searched for an error
// object.
const largestError = 64 << 10

// A doer makes requests and reads each reply to its end, so that a reply that is
// cut off, too large, or an error in spite of its status 200 is told from a
// malformed one.
type doer struct {
	client *http.Client
	max    int64
}

// Do implements go-openai's HTTPDoer.
func (d doer) Do(req *http.Request) (*http.Response, error) {
	res, err := d.client.Do(req)
	if err != nil {
		return nil, err
	}
	defer res.Body.Close()
	body, err := io.ReadAll(io.LimitReader(res.Body, d.max+1))
	if err != nil {
		return nil, fmt.Errorf("read reply: %w", err)
	}
	if int64(len(body)) > d.max {
		return nil, fmt.Errorf("%w: more than %d bytes", ErrReply, d.max)
	}
	if res.StatusCode < http.StatusMultipleChoices && len(body) <= largestError {
		if api := errorObject(body); api != nil {
			return nil, api
		}
	}
	res.Body = io.NopCloser(bytes.NewReader(body))
	return res, nil
}

// errorObject returns the error in a reply, nil when it has none. Its status is
// the error's code if that is one, else 200.
func errorObject(body []byte) *goopenai.APIError {
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

// retryAfter returns the pause that a server asks for, 0 if none.
func retryAfter(h http.Header, now time.Time) time.Duration {
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
