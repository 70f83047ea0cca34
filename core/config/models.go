package config

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/memsearch/memsearch"
	"github.com/memsearch/memsearch/internal/llm"
)

// A Rerank says how a model judges what a recall finds.
type Rerank struct {
	Kind       string               // one of the constants
	Mode       memsearch.RerankMode // for queries that do not say
	Candidates int
	Budget     int // tokens of one prompt
	MaxCalls   int // of one recall
	Timeout    time.Duration
	Prompt     string // name@version, or the path of a .md file; empty: the kind's own
}

// The kinds of a [Rerank].
const (
	RerankListwise     = "listwise"
	RerankCrossEncoder = "cross-encoder"
	RerankSelection    = "llm-selection"
)

// Values of the settings that choose among words.
var (
	rerankKinds = []string{RerankListwise, RerankCrossEncoder, RerankSelection}
	rerankModes = []memsearch.RerankMode{memsearch.RerankAuto, memsearch.RerankAlways, memsearch.RerankNever}
)

// profilePrefix begins the keys of model profiles, MainPrefix those of the main
// one.
const (
	profilePrefix = "profiles."
	MainPrefix    = profilePrefix + llm.ProfileMain + "."
)

// IsProfile reports whether key is of a model profile.
func IsProfile(key string) bool { return strings.HasPrefix(key, profilePrefix) }

// Profile returns the profile called name with what it leaves unset taken from
// main. It names no model unless one of the two does.
func (c *Config) Profile(name string) (llm.Profile, error) {
	if !slices.Contains(llm.ProfileNames, name) {
		return llm.Profile{}, fmt.Errorf("no model profile %q, want one of %s", name, strings.Join(llm.ProfileNames, ", "))
	}
	p := c.profiles[name]
	p.Name = name
	if name == llm.ProfileMain {
		return p, nil
	}
	return p.Inherit(c.profiles[llm.ProfileMain]), nil
}

// profileField is one field that every profile has.
type profileField struct {
	name, help string
	set        func(*llm.Profile, string) error
}

var profileFields = []profileField{
	{"model", "name of the model; without one in the profile or in main nothing is asked", func(p *llm.Profile, s string) error { p.Model = s; return nil }},
	{"base_url", "OpenAI-compatible server (default " + llm.DefaultBaseURL + ")", func(p *llm.Profile, s string) error { return address(&p.BaseURL, s) }},
	{"api_key_env", "name of the environment variable that holds the key; empty, or not given beside base_url: no key", func(p *llm.Profile, s string) error { return keyEnv(&p.APIKeyEnv, s) }},
	{"context_window", "tokens of prompt and reply together (default 128000)", func(p *llm.Profile, s string) error { return whole(1, &p.ContextWindow, s) }},
	{"max_output_tokens", "most tokens of a reply (default 1024)", func(p *llm.Profile, s string) error { return whole(1, &p.MaxOutput, s) }},
	{"temperature", "0 to 2; empty: the server's own", func(p *llm.Profile, s string) error { return optional(&p.Temperature, 0, 2, s) }},
	{"timeout", "time one try may take (default 30s)", func(p *llm.Profile, s string) error { return span(&p.Timeout, s) }},
	{"retries", "tries after the first that fails for a while (default 2)", setRetries},
	{"price_in", "price of a million prompt tokens, in any one currency", func(p *llm.Profile, s string) error { return price(&p.PriceIn, s) }},
	{"price_out", "price of a million tokens of replies", func(p *llm.Profile, s string) error { return price(&p.PriceOut, s) }},
	{"structured", "how JSON is asked for: auto, schema, object or none (default auto)", func(p *llm.Profile, s string) error { return oneOf(llm.StructuredModes, &p.Structured, s) }},
	{"stream", "true asks for replies as streams (default false)", setStream},
}

// profileSettings are the settings of every profile. They have no default value:
// what is unset is inherited.
func profileSettings() []setting {
	var out []setting
	for _, name := range llm.ProfileNames {
		for _, f := range profileFields {
			out = append(out, setting{profilePrefix + name + "." + f.name, "", f.help, func(c *Config, s string) error {
				if s == "" && f.name != "api_key_env" {
					return nil
				}
				p := c.profiles[name]
				err := f.set(&p, s)
				c.profiles[name] = p
				return err
			}})
		}
	}
	return out
}

// modelSettings are the settings of what models do.
var modelSettings = []setting{
	{"memory.recall_model_profile", "rerank", "model profile of reranking", func(c *Config, s string) error {
		return oneOf(llm.ProfileNames, &c.RecallProfile, s)
	}},
	{"rerank.kind", RerankListwise, "listwise: a language model grades the candidates; cross-encoder: a server with /rerank scores them; llm-selection: a language model picks from the catalog, nothing is searched", func(c *Config, s string) error {
		return oneOf(rerankKinds, &c.Rerank.Kind, s)
	}},
	{"rerank.mode", "auto", "whether a configured model is asked: auto (when it is likely to pay), always or never", func(c *Config, s string) error {
		return oneOf(rerankModes, &c.Rerank.Mode, s)
	}},
	{"rerank.candidates", "20", "memories that a model judges; at least k", number(1, func(c *Config) *int { return &c.Rerank.Candidates })},
	{"rerank.prompt_budget", "6000", "tokens that one prompt of a reranking may take", number(200, func(c *Config) *int { return &c.Rerank.Budget })},
	{"rerank.max_calls", "4", "calls that one recall may make", number(1, func(c *Config) *int { return &c.Rerank.MaxCalls })},
	{"rerank.timeout", "10s", "time that reranking may add to a recall", duration(func(c *Config) *time.Duration { return &c.Rerank.Timeout })},
	{"rerank.prompt", "", "prompt as name@version, or the path of a .md file; empty: rerank@1, or select@1 for llm-selection", text(func(c *Config) *string { return &c.Rerank.Prompt })},
	{"llm.call_tokens", "64000", "tokens that one call to a language model may take, reply included", number(1, func(c *Config) *int { return &c.Caps.CallTokens })},
	{"llm.run_calls", "1000", "calls to language models in one run", number(1, func(c *Config) *int { return &c.Caps.RunCalls })},
	{"llm.run_tokens", "5000000", "tokens of language models in one run", number(1, func(c *Config) *int { return &c.Caps.RunTokens })},
	{"llm.run_money", "5", "money for language models in one run, in the currency of the prices", func(c *Config, s string) error { return moneyCap(&c.Caps.RunMoney, s) }},
	{"llm.day_calls", "5000", "calls to language models in one day (UTC), by the ledger", number(1, func(c *Config) *int { return &c.Caps.DayCalls })},
	{"llm.day_tokens", "20000000", "tokens of language models in one day", number(1, func(c *Config) *int { return &c.Caps.DayTokens })},
	{"llm.day_money", "20", "money for language models in one day", func(c *Config, s string) error { return moneyCap(&c.Caps.DayMoney, s) }},
	{"llm.ledger_dir", "", "folder of the ledger of costs; empty: the journal of the first vault", text(func(c *Config) *string { return &c.LedgerDir })},
	{"debug", "false", "keep every request to a language model and its reply, redacted, in the index directory", boolean(func(c *Config) *bool { return &c.Debug })},
	{"cassette", "", "file of recorded replies of language models", text(func(c *Config) *string { return &c.Cassette })},
	{"cassette_mode", string(llm.CassetteReplay), "what the cassette does: replay, record or auto (replay what is there, record the rest)", func(c *Config, s string) error {
		return oneOf(llm.CassetteModes, &c.CassetteMode, s)
	}},
}

func oneOf[S ~string](words []S, at *S, s string) error {
	if slices.Contains(words, S(s)) {
		*at = S(s)
		return nil
	}
	names := make([]string, len(words))
	for i, w := range words {
		names[i] = string(w)
	}
	return fmt.Errorf("%q is none of %s", s, strings.Join(names, ", "))
}

func whole(least int, at *int, s string) (err error) {
	v, err := atLeast(least)(s)
	if err == nil {
		*at = v
	}
	return err
}

func amount(at *float64, s string) error {
	v, err := strconv.ParseFloat(s, 64)
	if err != nil || !(v >= 0) || v > 1e9 {
		return fmt.Errorf("%q is not an amount such as 0.15", s)
	}
	*at = v
	return nil
}

func price(at **float64, s string) error {
	*at = new(0.0)
	return amount(*at, s)
}

func moneyCap(at *float64, s string) error {
	if err := amount(at, s); err != nil {
		return err
	}
	if *at == 0 {
		return errors.New("a cap of 0 would mean none; rerank.mode: never asks no model")
	}
	return nil
}

func optional(at **float64, least, most float64, s string) error {
	v, err := strconv.ParseFloat(s, 64)
	if err != nil || !(v >= least && v <= most) {
		return fmt.Errorf("%q is not a number from %g to %g", s, least, most)
	}
	*at = &v
	return nil
}

func span(at *time.Duration, s string) error {
	d, err := time.ParseDuration(s)
	if err != nil || d <= 0 {
		return fmt.Errorf("%q is not a duration such as 500ms or 30s", s)
	}
	*at = d
	return nil
}

func setRetries(p *llm.Profile, s string) error {
	n, err := atLeast(0)(s)
	if err == nil {
		p.Retries = &n
	}
	return err
}

func setStream(p *llm.Profile, s string) error {
	b, err := strconv.ParseBool(s)
	if err != nil {
		return fmt.Errorf("%q is neither true nor false", s)
	}
	p.Stream = &b
	return nil
}
