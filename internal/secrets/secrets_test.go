package secrets_test

import (
	"strings"
	"testing"

	"github.com/memsearch/memsearch/internal/secrets"
)

// Keys are put together here so that no scanner of this repository takes them
// for real ones.
var (
	awsKey    = "AKIA" + "QYLPMN5HHHFPZAM2"
	awsDocKey = "AKIA" + "IOSFODNN7EXAMPLE"
	github    = "ghp_" + "16C7e42F292c6912E7710c838347Ae178B4a"
	openai    = "sk-" + "proj-abcDEF123456ghiJKL789012mnoPQR"
	openaiOld = "sk-" + "Xy7Zk29QmW4rT8pL1vB6nC3dF5gH0jAeS"
	slack     = "xoxb-" + "123456789012-1234567890123-AbCdEfGhIjKlMnOpQrStUvWx"
	pem       = "-----BEGIN RSA " + "PRIVATE KEY-----\nMIIEpAIBAAKCAQEAx5Xg\n-----END RSA PRIVATE KEY-----"
	pemCut    = "-----BEGIN OPENSSH " + "PRIVATE KEY-----\nb3BlbnNzaC1rZXktdjEA"
	jwt       = "eyJ" + "hbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.dozjgNryP4J3jVmNHl0w5N_XgL0n3I9PlFUP0THsR8U"
)

func TestScanFinds(t *testing.T) {
	s := secrets.New()
	for name, tt := range map[string]struct{ text, secret string }{
		"AWS":                     {"deploy with " + awsKey + " please", awsKey},
		"AWS documentation":       {"key " + awsDocKey, awsDocKey},
		"GitHub":                  {"token " + github, github},
		"GitHub in URL":           {"git clone https://" + github + "@github.com/a/b", github},
		"OpenAI":                  {"OPENAI_API_KEY=" + openai, openai},
		"OpenAI, old":             {"use " + openaiOld + ".", openaiOld},
		"Slack":                   {"`" + slack + "`", slack},
		"private key":             {"before\n" + pem + "\nafter", pem},
		"private key cut short":   {"before\n" + pemCut, pemCut},
		"JWT":                     {"Authorization: Bearer " + jwt, jwt},
		"password":                {"password: hunter2", "hunter2"},
		"password, prose":         {"The wifi password is hunter2.", "hunter2"},
		"password, of":            {"The password for staging: Tr0ub4dor&3", "Tr0ub4dor&3"},
		"password, env":           {"export DB_PASSWORD=s3cr3tpw", "s3cr3tpw"},
		"password, JSON":          {`{"password": "hunter22"}`, "hunter22"},
		"password, code span":     {"Password: `P4ssw0rd!`", "P4ssw0rd"},
		"Chinese":                 {"数据库密码：Zk9#mQ2x，不要外传", "Zk9#mQ2x"},
		"Chinese, prose":          {"密码是 abc12345。", "abc12345"},
		"URL":                     {"postgres://app:S3cr3tPw@db.internal/prod", "S3cr3tPw"},
		"generic":                 {"api_key = 9f8a7b6c5d4e3f2a1b0c9d8e7f6a5b4c", "9f8a7b6c5d4e3f2a1b0c9d8e7f6a5b4c"},
		"allow comment":           {"deploy " + awsKey + " # gitleaks:allow", awsKey},
		"between Chinese":         {"使用" + " " + github + " 登录", github},
		"after invalid UTF-8":     {"\xff\xfe " + awsKey, awsKey},
		"two secrets, the second": {"password: hunter2\nalso " + awsKey, awsKey},
	} {
		t.Run(name, func(t *testing.T) {
			found := s.Scan(tt.text)
			ok := false
			for _, f := range found {
				ok = ok || strings.Contains(tt.text[f.Start:f.End], tt.secret)
			}
			if !ok {
				t.Errorf("Scan(%q) = %v, want one over %q", tt.text, found, tt.secret)
			}
			if rest := without(tt.text, found); strings.Contains(rest, tt.secret) {
				t.Errorf("the secret stands outside of the findings, too: %q", rest)
			}
		})
	}
}

// without returns text with a mark in place of each finding.
func without(text string, found []secrets.Finding) string {
	var b strings.Builder
	end := 0
	for _, f := range found {
		b.WriteString(text[end:f.Start] + "|")
		end = f.End
	}
	return b.String() + text[end:]
}

func TestScanLetsThrough(t *testing.T) {
	s := secrets.New()
	for _, text := range []string{
		"",
		"The password rotation is monthly; ask Bob for the vault.",
		"The password is rotated every 90 days.",
		"password: see 1Password",
		"Passwords must have 12 characters",
		"密码每九十天更换一次",
		"密码：见保险箱",
		"The token budget is 2000 tokens; max_tokens: 4096",
		"token: base64-encoded",
		"API key: set OPENAI_API_KEY in the environment",
		"password=$DB_PASSWORD and ${DB_PASSWORD2} and <password1>",
		"password: os.environ['DB_PW1']",
		"postgres://user:password@localhost:5432/db",
		"postgres://$USER:$PASS1@localhost/db",
		"http://localhost:8080/path?x=1@y",
		"postgres://postgres:postgres@localhost/db",
		"the key is set: timezone_key = America/Chicago",
		"canonical_key: production.region",
		"supersedes: mem_20250302090000_p1c2d3",
		"commit 4262815a0b1c2d3e4f5061728394a5b6c7d8e9f0 fixed DEC-0054",
		"sha256: e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
		"task-based, risk-averse, disk-usage-analysis-report-2026",
		"Production moved from us-east-1 to eu-central-1 on 2026-11-01.",
		"The secret: start small and ship weekly.",
	} {
		if found := s.Scan(text); len(found) > 0 {
			t.Errorf("Scan(%q) = %v, want nothing", text, found)
		}
	}
}

func TestScanOrder(t *testing.T) {
	text := "password: hunter2, then " + awsKey + " and password: hunter3x"
	found := secrets.New().Scan(text)
	end := 0
	for _, f := range found {
		if f.Start < end || f.End <= f.Start || f.Rule == "" {
			t.Errorf("finding %v after %d", f, end)
		}
		end = f.End
	}
	if len(found) != 3 {
		t.Errorf("got %v, want three findings", found)
	}
}

func FuzzScan(f *testing.F) {
	for _, s := range []string{"password: hunter2", awsKey, pem, "密码：Zk9#mQ2x", "a://b:cde@f", "\xff" + slack} {
		f.Add(s)
	}
	s := secrets.New()
	f.Fuzz(func(t *testing.T, text string) {
		end := 0
		found := s.Scan(text)
		for _, x := range found {
			if x.Start < end || x.End <= x.Start || x.End > len(text) {
				t.Fatalf("finding %v after %d in %d bytes", x, end, len(text))
			}
			end = x.End
		}
	})
}

func BenchmarkScan(b *testing.B) {
	s := secrets.New()
	text := strings.Repeat("Production moved from us-east-1 to eu-central-1; the key decision was about tokens and access.\n", 20)
	s.Scan(text)
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		s.Scan(text)
	}
}
