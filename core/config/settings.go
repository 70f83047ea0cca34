package config

import (
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/memsearch/memsearch/internal/llm"
)

// Modes lists the values of the mode setting.
var Modes = []string{"off", "policy-only", "catalog", "recall"}

// A setting is one key that files, the environment and flags may give.
type setting struct {
	key, def, help string
	set            func(*Config, string) error
}

// env returns the environment variable of s: memory.enabled is MEMSEARCH_MEMORY_ENABLED.
func (s setting) env() string {
	return variablePrefix + strings.ToUpper(strings.NewReplacer(".", "_", "-", "_").Replace(s.key))
}

// Unread returns the variables of environ ("NAME=value") that are called like
// settings and are none, in the order of the environment.
func Unread(environ []string) []string {
	var out []string
	for _, v := range environ {
		name, _, _ := strings.Cut(v, "=")
		if strings.HasPrefix(name, variablePrefix) && !slices.ContainsFunc(settings, func(s setting) bool { return s.env() == name }) {
			out = append(out, name)
		}
	}
	return out
}

// variablePrefix begins the names of the environment variables of settings.
const variablePrefix = "MEMSEARCH_"

// show returns the value as JSON should have it.
func (s setting) show(v string) any {
	if n, err := strconv.ParseFloat(v, 64); err == nil {
		return n
	}
	if b, err := strconv.ParseBool(v); err == nil {
		return b
	}
	return v
}

func text(at func(*Config) *string) func(*Config, string) error {
	return func(c *Config, s string) error { *at(c) = s; return nil }
}

func number(least int, at func(*Config) *int) func(*Config, string) error {
	parse := atLeast(least)
	return func(c *Config, s string) (err error) {
		v, err := parse(s)
		if err == nil {
			*at(c) = v
		}
		return err
	}
}

func boolean(at func(*Config) *bool) func(*Config, string) error {
	return func(c *Config, s string) (err error) {
		if *at(c), err = strconv.ParseBool(s); err != nil {
			return fmt.Errorf("%q is neither true nor false", s)
		}
		return nil
	}
}

func duration(at func(*Config) *time.Duration) func(*Config, string) error {
	return func(c *Config, s string) error {
		d, err := time.ParseDuration(s)
		if err != nil || d < 0 {
			return fmt.Errorf("%q is not a duration such as 500ms or 30s", s)
		}
		*at(c) = d
		return nil
	}
}

// later accepts a setting of a part that does not exist yet, checked but unused,
// so that one file can serve an agent runtime and memsearch alike.
func later(check func(string) error) func(*Config, string) error {
	return func(_ *Config, s string) error { return check(s) }
}

func isNumber(s string) error { _, err := atLeast(0)(s); return err }
func anyText(string) error    { return nil }

// settings is every key in documented order.
var settings = slices.Concat(baseSettings, modelSettings, profileSettings())

var baseSettings = []setting{
	{"mode", "recall", "what PrepareContext gives an agent: off, policy-only, catalog or recall; a recall answers in all but off", setMode},
	{"memory.enabled", "true", "false is the same as mode: off", setEnabled},
	{"zone", "UTC", "time zone of dates without one (never taken from TZ)", setZone},
	{"index_dir", "", "where derived indexes live; empty: .memsearch in the vault", text(func(c *Config) *string { return &c.IndexDir })},
	{"k", "8", "most memories a recall returns, each with up to three units", number(1, func(c *Config) *int { return &c.K })},
	{"memory_context_token_budget", "2000", "tokens the context may take", number(1, func(c *Config) *int { return &c.Budget })},
	{"inject_threshold", "0", "confidence (0-1) below which hits are listed but not injected, unless a language model picked them; 0: the fitted 0.05", setThreshold},
	{"sync_budget", "500ms", "how long a recall may look for changed files", duration(func(c *Config) *time.Duration { return &c.SyncBudget })},
	{"sync_files", "2000", "most changed files a recall indexes before it answers", number(0, func(c *Config) *int { return &c.SyncFiles })},
	{"lock_wait", "10s", "how long a writer waits for another before it says busy", duration(func(c *Config) *time.Duration { return &c.LockWait })},
	{"model", "static", "embedding model: static (built in), none, or the name of a model behind base_url", text(func(c *Config) *string { return &c.Model })},
	{"base_url", llm.DefaultBaseURL, "OpenAI-compatible server of an API model", setURL},
	{"api_key_env", llm.DefaultAPIKeyEnv, "name of the environment variable that holds the key; empty, or not given beside base_url: no key", setKeyEnv},
	{"dims", "0", "dimensions of an API model's vectors; 0: known from its name", number(0, func(c *Config) *int { return &c.Dims })},
	{"request_dims", "false", "ask the server to shorten its vectors to dims", boolean(func(c *Config) *bool { return &c.RequestDims })},
	{"query_prefix", "", "text put before a query for an API model", text(func(c *Config) *string { return &c.QueryPrefix })},
	{"passage_prefix", "", "text put before a passage for an API model", text(func(c *Config) *string { return &c.PassagePrefix })},
	{"batch", "64", "texts in one call to an API model", number(1, func(c *Config) *int { return &c.Batch })},
	{"timeout", "30s", "time one call to an API model may take", duration(func(c *Config) *time.Duration { return &c.Timeout })},
	{"max_calls", "10000", "calls to an API model one run may make", number(1, func(c *Config) *int { return &c.MaxCalls })},
	{"max_tokens", "50000000", "tokens one run may send to an API model", number(1, func(c *Config) *int { return &c.MaxTokens })},
	{"price", "0", "price of a million tokens of an API model, in the currency of the profiles' prices; llm.run_money and llm.day_money cap it", func(c *Config, s string) error { return amount(&c.Price, s) }},
	{"memory.extract_every_messages", "20", "reserved: unread user messages that start an extraction", later(isNumber)},
	{"memory.extract_every_tokens", "4000", "reserved: unread tokens that start an extraction", later(isNumber)},
	{"memory.idle_seconds", "60", "reserved: idle time that starts an extraction", later(isNumber)},
	{"memory.extract_model_profile", "", "reserved: model profile of extraction", later(anyText)},
}

func setMode(c *Config, s string) error {
	if !slices.Contains(Modes, s) {
		return fmt.Errorf("%q is none of %s", s, strings.Join(Modes, ", "))
	}
	c.Mode = s
	return nil
}

func setEnabled(c *Config, s string) error {
	var on bool
	err := boolean(func(*Config) *bool { return &on })(c, s)
	if err == nil && !on {
		c.Mode = "off"
	}
	return err
}

func setZone(c *Config, s string) error {
	if s == "Local" || s == "" {
		return fmt.Errorf("%q is not a named zone such as Europe/Berlin or Asia/Shanghai", s)
	}
	z, err := time.LoadLocation(s)
	if err != nil {
		return fmt.Errorf("load zone: %w", err)
	}
	c.Zone = z
	return nil
}

func setThreshold(c *Config, s string) error {
	v, err := strconv.ParseFloat(s, 64)
	if err != nil || !(v >= 0 && v <= 1) {
		return fmt.Errorf("%q is not a number from 0 to 1", s)
	}
	c.InjectThreshold = v
	return nil
}

func setURL(c *Config, s string) error { return address(&c.BaseURL, s) }

func address(at *string, s string) error {
	u, err := url.Parse(s)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return fmt.Errorf("%q is not an http or https address", s)
	}
	if u.User != nil {
		return fmt.Errorf("the address holds a user or password; name an environment variable in api_key_env instead")
	}
	*at = s
	return nil
}

func setKeyEnv(c *Config, s string) error { return keyEnv(&c.APIKeyEnv, s) }

// keyEnv refuses what looks like a key instead of a variable's name.
func keyEnv(at *string, s string) error {
	for _, r := range s {
		if r != '_' && (r < '0' || r > '9') && (r < 'A' || r > 'Z') && (r < 'a' || r > 'z') {
			return fmt.Errorf("want the name of an environment variable, not a key")
		}
	}
	*at = s
	return nil
}
