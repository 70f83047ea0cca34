// Package llm asks language models that speak the OpenAI protocol: OpenAI, Ollama,
// LM Studio, vLLM, OpenRouter and others.
//
//	Request -> cassette? -> caps -> breaker -> HTTP (retries) -> ledger -> Reply -> Decode
//
// Every call a model is paid for goes through a [Client], which bounds and counts
// it.
package llm

import (
	"context"

	"github.com/google/jsonschema-go/jsonschema"

	"github.com/memsearch/memsearch"
)

// The roles of a message.
const (
	RoleSystem    = "system"
	RoleUser      = "user"
	RoleAssistant = "assistant"
)

// A Message is one turn of a conversation.
type Message struct {
	Role    string `json:"role"`
	Content string `json:"content"`
}

// A Request asks for one completion.
type Request struct {
	Messages []Message

	// Schema, if non-nil, is what the reply must satisfy as JSON. It is given to
	// servers that can enforce it and described to the others.
	Schema     *jsonschema.Schema
	SchemaName string // of letters, digits, "_" and "-"; needed with Schema

	MaxOutput int    // tokens; zero: what the profile says
	MaxCalls  int    // calls it may take, with those made again; zero: what the profile says
	Prompt    string // the prompt in use, for example "rerank@1"; names the request in the ledger and in errors
	Sample    int    // tells repetitions of one request apart where replies are stored; not sent
}

// Why a model stopped.
const (
	FinishStop    = "stop"
	FinishLength  = "length"
	FinishRefusal = "refusal"
)

// A Reply is one completion.
type Reply struct {
	Text     string
	Finish   string
	Cost     memsearch.Cost // of all calls it took, failed ones included
	Replayed bool           // came from a cassette: nothing was asked
}

// An Asker answers requests. Its errors say what went wrong without quoting a
// prompt or a key. When it fails, the reply is non-nil if something was spent. It
// is safe for concurrent use and honours ctx.
type Asker interface {
	Ask(ctx context.Context, r Request) (*Reply, error)
}
