package config_test

import (
	"strings"
	"testing"
	"time"

	"github.com/memsearch/memsearch/core/config"
)

func TestProfiles(t *testing.T) {
	o := config.Options{
		VaultDir: write(t, "profiles:\n  main:\n    model: big\n    base_url: http://one/v1\n    api_key_env: ONE\n    price_in: 2\n    retries: 0\n"+
			"  rerank: {model: small, timeout: 2s}\n  judge:\n    base_url: http://two/v1\n"),
		Getenv: func(k string) string {
			return map[string]string{"MEMSEARCH_PROFILES_RERANK_MAX_OUTPUT_TOKENS": "77"}[k]
		},
	}
	c, err := config.Load(o)
	if err != nil {
		t.Fatal(err)
	}
	p, err := c.Profile("rerank")
	if err != nil || p.Model != "small" || p.BaseURL != "http://one/v1" || p.APIKeyEnv != "ONE" || p.Timeout != 2*time.Second ||
		p.MaxOutput != 77 || p.PriceIn != nil || p.Retries == nil || *p.Retries != 0 || p.Name != "rerank" {
		t.Errorf("rerank: %+v %v", p, err)
	}
	// The key of one server is never sent to another.
	if p, err = c.Profile("judge"); err != nil || p.Model != "big" || *p.PriceIn != 2 || p.BaseURL != "http://two/v1" || p.APIKeyEnv != "" {
		t.Errorf("judge: %+v %v", p, err)
	}
	if _, err = c.Profile("chief"); err == nil {
		t.Error("a profile that does not exist")
	}
	if c, err = config.Load(config.Options{}); err != nil {
		t.Fatal(err)
	}
	if p, err = c.Profile("rerank"); err != nil || p.Usable() {
		t.Errorf("without settings: %+v %v", p, err)
	}
}

func TestModelSettingsRefused(t *testing.T) {
	for _, tt := range []struct{ text, want string }{
		{"profiles:\n  mian: {model: x}\n", `did you mean "profiles.main.model"`},
		{"profiles:\n  main: {temprature: 1}\n", `did you mean "profiles.main.temperature"`},
		{"profiles:\n  main: {temperature: 3}\n", "0 to 2"},
		{"profiles:\n  main: {base_url: 'https://u:p@host/v1'}\n", "password"},
		{"profiles:\n  main: {api_key_env: sk-abc}\n", "not a key"},
		{"profiles:\n  main: {timeout: 0s}\n", "duration"},
		{"profiles:\n  main: {price_in: -1}\n", "amount"},
		{"profiles:\n  main: {retries: -1}\n", "less than 0"},
		{"profiles:\n  main: {stream: perhaps}\n", "true nor false"},
		{"profiles:\n  main: {structured: yaml}\n", "none of auto"},
		{"profiles: none\n", `unknown setting "profiles"`},
		{"rerank:\n  kind: pointwise\n", "none of listwise"},
		{"rerank:\n  mode: sometimes\n", "none of auto"},
		{"rerank:\n  prompt_budget: 10\n", "less than 200"},
		{"llm:\n  day_money: 0\n", "would mean none"},
		{"cassette_mode: rewind\n", "none of replay"},
		{"memory:\n  recall_model_profile: chief\n", "none of main"},
	} {
		_, err := config.Load(config.Options{VaultDir: write(t, tt.text)})
		if err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%q: got %v, want %q in it", tt.text, err, tt.want)
		}
		if err != nil && strings.Contains(err.Error(), "sk-abc") {
			t.Errorf("the error quotes a key: %v", err)
		}
	}
}
