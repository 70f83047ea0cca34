// Package openai embeds texts with a server that speaks the OpenAI embeddings
// protocol: OpenAI, Ollama, LM Studio, vLLM, TEI and others.
//
//	texts -> prefix, cut -> batches -> requests (cap, rate, breaker, retry) -> checked rows -> unit vectors
//
// # What is checked
//
// A reply is used only if it has exactly one row for each text, put in order by
// its index fields, each of the configured number of dimensions, finite and not
// all zero. A reply that breaks one of these rules is an error that wraps
// [ErrReply]: it is not asked for again, because the same request would be paid
// twice for the same answer.
//
// # What is retried
//
// Connection failures, timeouts, 408, 425, 429 and 5xx, with exponential backoff
// and jitter, or after the time that the server asks for. Other statuses, a spent
// quota among them, are final. After [Options.BreakAfter] failures in a row the
// client stops asking for a while; see [ErrUnavailable].
//
// # Costs
//
// [Options.MaxCalls] and [Options.MaxTokens] bound what a Client may spend in its
// life; beyond them Embed returns a [CapError] without asking. Every request,
// failed ones included, is reported to [Options.OnCall].
//
// # Secrets
//
// The key is given by the name of an environment variable and appears in no error
// and no log line; neither do texts. What a server says about a failure is shown
// unless it quotes one of the two.
package openai
