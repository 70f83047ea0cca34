package secrets_test

import (
	"testing"

	"github.com/memsearch/memsearch/internal/secrets"
)

func TestRedact(t *testing.T) {
	for _, tt := range []struct {
		text  string
		found []secrets.Finding
		want  string
	}{
		{"nothing", nil, "nothing"},
		{"key=abc rest", []secrets.Finding{{Rule: "k", Start: 4, End: 7}}, "key=[redacted: k] rest"},
		{"abc", []secrets.Finding{{Rule: "k", Start: 0, End: 3}}, "[redacted: k]"},
		{"密码abc和def", []secrets.Finding{{Rule: "a", Start: 6, End: 9}, {Rule: "b", Start: 12, End: 15}}, "密码[redacted: a]和[redacted: b]"},
	} {
		if got := secrets.Redact(tt.text, tt.found); got != tt.want {
			t.Errorf("%q: %q, want %q", tt.text, got, tt.want)
		}
	}
	text := "The deploy token is ghp_1234567890abcdefghijABCDEFGHIJ123456, keep it."
	got := secrets.Redact(text, secrets.New().Scan(text))
	if got == text || len(secrets.New().Scan(got)) > 0 {
		t.Errorf("still a secret in %q", got)
	}
}
