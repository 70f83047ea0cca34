package llm

import (
	"cmp"
	"time"
)

// ProfileNames lists the profiles: [ProfileMain], and those that take from it
// what they leave unset.
var ProfileNames = []string{ProfileMain, "rerank", "extract", "dream", "judge", "task"}

// ProfileMain is the profile that the others inherit from.
const ProfileMain = "main"

// How a server is asked for JSON.
const (
	StructuredAuto   = "auto"   // the strictest way that the server takes
	StructuredSchema = "schema" // response_format json_schema
	StructuredObject = "object" // response_format json_object
	StructuredNone   = "none"   // by instruction alone
)

// StructuredModes lists the values of [Profile].Structured.
var StructuredModes = []string{StructuredAuto, StructuredSchema, StructuredObject, StructuredNone}

// A Profile says which model to ask and how. Zero fields are unset; see
// [Profile.Inherit].
type Profile struct {
	Name      string // one of [ProfileNames]; names the caller in the ledger
	BaseURL   string // where "/chat/completions" is appended; may not carry credentials
	APIKeyEnv string // name of the environment variable with the key; "" for a server without one
	Model     string // empty: there is no model

	ContextWindow int           // tokens of prompt and output together
	MaxOutput     int           // tokens
	Temperature   *float64      // nil: the server's own
	Timeout       time.Duration // of one try
	Retries       *int          // tries after the first

	PriceIn, PriceOut *float64 // per million tokens, in any one currency

	Structured string // one of [StructuredModes]
	Stream     *bool
}

// Defaults of a [Profile] that neither it nor the main profile sets.
const (
	DefaultBaseURL       = "https://api.openai.com/v1"
	DefaultAPIKeyEnv     = "OPENAI_API_KEY" // of DefaultBaseURL
	DefaultContextWindow = 128_000
	DefaultMaxOutput     = 1024
	DefaultTimeout       = 30 * time.Second
	DefaultRetries       = 2
)

// Usable reports whether the profile names a model.
func (p Profile) Usable() bool { return p.Model != "" }

// Inherit returns p with what it leaves unset taken from main. Address and key go
// together: the key of one server is never sent to another. Prices belong to a
// model: another model inherits none. The same model inherits them on another server
// too, since to count too much breaks no cap; give it the price 0 where it is free.
func (p Profile) Inherit(main Profile) Profile {
	if p.BaseURL == "" {
		p.BaseURL = main.BaseURL
		p.APIKeyEnv = cmp.Or(p.APIKeyEnv, main.APIKeyEnv)
	}
	p.Model = cmp.Or(p.Model, main.Model)
	if p.Model == main.Model {
		p.PriceIn, p.PriceOut = cmp.Or(p.PriceIn, main.PriceIn), cmp.Or(p.PriceOut, main.PriceOut)
	}
	p.ContextWindow = cmp.Or(p.ContextWindow, main.ContextWindow)
	p.MaxOutput = cmp.Or(p.MaxOutput, main.MaxOutput)
	p.Temperature = cmp.Or(p.Temperature, main.Temperature)
	p.Timeout = cmp.Or(p.Timeout, main.Timeout)
	p.Retries = cmp.Or(p.Retries, main.Retries)
	p.Structured = cmp.Or(p.Structured, main.Structured)
	p.Stream = cmp.Or(p.Stream, main.Stream)
	return p
}

// withDefaults fills what is still unset.
func (p Profile) withDefaults() Profile {
	return p.Inherit(Profile{BaseURL: DefaultBaseURL, APIKeyEnv: DefaultAPIKeyEnv, Model: p.Model, ContextWindow: DefaultContextWindow,
		MaxOutput: DefaultMaxOutput, Timeout: DefaultTimeout, Retries: new(DefaultRetries), PriceIn: new(0.0), PriceOut: new(0.0),
		Structured: StructuredAuto, Stream: new(false)})
}

// money returns the price of a call.
func (p Profile) money(in, out int) float64 {
	return (float64(in)**p.PriceIn + float64(out)**p.PriceOut) / 1e6
}
