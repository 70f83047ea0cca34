package llm

import (
	"context"
	"errors"
	"math/rand/v2"
	"net"
	"time"

	"github.com/cenkalti/backoff/v5"

	"github.com/memsearch/memsearch/internal/httpapi"
)

const (
	firstPause = 500 * time.Millisecond
	lastPause  = 20 * time.Second
	growth     = 2
	jitter     = .1              // of a pause that the server asks for
	maxWait    = 1 * time.Minute // the longest such pause that is kept
)

// patience is how long a server may leave a caller without an answer before a
// caller that runs out of time counts as a server that does not work. Callers have
// less time than a profile's timeout: a dead server must not take all of it from
// each of them. Of a short timeout half is enough.
const patience = time.Second

// stopped marks an error that is the caller's own. It reads as the cause that the
// caller gave.
type stopped struct {
	error
	why    error // context.Canceled or context.DeadlineExceeded
	silent bool  // the server had its time, too
}

func (s stopped) Unwrap() []error { return []error{s.error, s.why} }

// retry calls op until it succeeds, fails for good, or has failed as often as the
// profile allows, or most times; zero: any.
func (c *Client) retry(ctx context.Context, most int, op func() error) error {
	pause := &backoff.ExponentialBackOff{InitialInterval: firstPause, RandomizationFactor: .5, Multiplier: growth, MaxInterval: lastPause}
	for try := 1; ; try++ {
		err := op()
		if err == nil || try > *c.profile.Retries || try == most || !temporary(err) {
			return err
		}
		wait := pause.NextBackOff()
		if status, ok := errors.AsType[*StatusError](err); ok && status.Wait > 0 {
			wait = status.Wait + time.Duration(rand.Float64()*jitter*float64(status.Wait))
		}
		if wait > maxWait {
			return err
		}
		if end, ok := ctx.Deadline(); ok && wait >= time.Until(end) {
			return err
		}
		c.opts.Logger.DebugContext(ctx, "model call failed, trying again", "model", c.profile.Model, "try", try, "wait", wait, "err", err)
		timer := time.NewTimer(wait)
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
			return stopped{error: context.Cause(ctx), why: ctx.Err()}
		}
	}
}

// temporary reports whether the same call may succeed in a while. A call that
// timed out is not made again, since the next would wait as long, nor one to a
// server that is not there.
func temporary(err error) bool {
	if status, ok := errors.AsType[*StatusError](err); ok {
		return status.Temporary()
	}
	_, mine := errors.AsType[stopped](err)
	return outage(err) && !mine && !timedOut(err) && !httpapi.Undialled(err)
}

// outage reports whether err says that the server does not work, as opposed to
// refusing one request.
func outage(err error) bool {
	if status, ok := errors.AsType[*StatusError](err); ok {
		return status.Status >= 500 && status.Temporary()
	}
	if mine, ok := errors.AsType[stopped](err); ok {
		return mine.silent
	}
	_, capped := errors.AsType[*CapError](err)
	return err != nil && !capped && !errors.Is(err, ErrReply) && !errors.Is(err, ErrUnavailable) && !errors.Is(err, ErrLedger)
}

// timedOut reports whether the server did not answer in time.
func timedOut(err error) bool {
	if _, mine := errors.AsType[stopped](err); mine {
		return false
	}
	e, ok := errors.AsType[net.Error](err)
	return errors.Is(err, context.DeadlineExceeded) || ok && e.Timeout()
}
