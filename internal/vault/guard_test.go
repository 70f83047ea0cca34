//go:build unix

package vault_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/memsearch/memsearch"
	"github.com/memsearch/memsearch/internal/vault"
)

func TestRefusals(t *testing.T) {
	key := "AKIA" + "QYLPMN5HHHFPZAM2"
	day := func(d int) memsearch.Bound {
		return memsearch.Bound{Time: time.Date(2026, 11, d, 0, 0, 0, 0, time.UTC), Date: true}
	}
	for name, tt := range map[string]struct {
		change func(n *vault.NewMemory)
		rule   vault.Rule
		field  string
	}{
		"secret in body":       {func(n *vault.NewMemory) { n.Body = "key " + key }, vault.RuleSecret, "body"},
		"secret in summary":    {func(n *vault.NewMemory) { n.Memory.Summary = key }, vault.RuleSecret, "summary"},
		"secret in title":      {func(n *vault.NewMemory) { n.Memory.Title = key }, vault.RuleSecret, "title"},
		"secret in catalog":    {func(n *vault.NewMemory) { n.Memory.Catalog = key }, vault.RuleSecret, "catalog"},
		"secret in name":       {func(n *vault.NewMemory) { n.Name = key }, vault.RuleSecret, "name"},
		"secret in tag":        {func(n *vault.NewMemory) { n.Memory.Tags = []string{"a", key} }, vault.RuleSecret, "tags"},
		"secret in alias":      {func(n *vault.NewMemory) { n.Memory.Aliases = []string{key} }, vault.RuleSecret, "aliases"},
		"secret in key":        {func(n *vault.NewMemory) { n.Memory.CanonicalKey = key }, vault.RuleSecret, "canonical_key"},
		"secret in session":    {func(n *vault.NewMemory) { n.Memory.Source.SessionID = key }, vault.RuleSecret, "source.session_id"},
		"secret in turn":       {func(n *vault.NewMemory) { n.Memory.Source.TurnID = key }, vault.RuleSecret, "source.turn_id"},
		"secret in node":       {func(n *vault.NewMemory) { n.Memory.Source.NodeIDs = []string{key} }, vault.RuleSecret, "source.node_ids"},
		"secret in confirmer":  {func(n *vault.NewMemory) { n.Memory.Source.ConfirmedBy = key }, vault.RuleSecret, "source.confirmed_by"},
		"secret in tool":       {func(n *vault.NewMemory) { n.Memory.Tools = []string{key} }, vault.RuleSecret, "tools"},
		"secret in event":      {func(n *vault.NewMemory) { n.Memory.SourceEvents = []string{key} }, vault.RuleSecret, "source_events"},
		"secret in supersedes": {func(n *vault.NewMemory) { n.Memory.Supersedes = []string{key} }, vault.RuleSecret, "supersedes"},
		"secret in id":         {func(n *vault.NewMemory) { n.Memory.ID = key }, vault.RuleSecret, "id"},
		"password in prose":    {func(n *vault.NewMemory) { n.Body = "The password is hunter2" }, vault.RuleSecret, "body"},

		"no category":        {func(n *vault.NewMemory) { n.Memory.Category = "" }, vault.RuleSchema, "category"},
		"category escapes":   {func(n *vault.NewMemory) { n.Memory.Category = "../x" }, vault.RuleSchema, "category"},
		"unknown kind":       {func(n *vault.NewMemory) { n.Memory.Kind = "gossip" }, vault.RuleSchema, "kind"},
		"superseded":         {func(n *vault.NewMemory) { n.Memory.Status = memsearch.StatusSuperseded }, vault.RuleSchema, "status"},
		"no summary":         {func(n *vault.NewMemory) { n.Memory.Summary = "" }, vault.RuleSchema, "summary"},
		"long summary":       {func(n *vault.NewMemory) { n.Memory.Summary = strings.Repeat("好", 201) }, vault.RuleSchema, "summary"},
		"summary of lines":   {func(n *vault.NewMemory) { n.Memory.Summary = "a\nstatus: active" }, vault.RuleSchema, "summary"},
		"summary with CR":    {func(n *vault.NewMemory) { n.Memory.Summary = "a\rb" }, vault.RuleSchema, "summary"},
		"summary not UTF-8":  {func(n *vault.NewMemory) { n.Memory.Summary = "a\xff" }, vault.RuleSchema, "summary"},
		"tag of lines":       {func(n *vault.NewMemory) { n.Memory.Tags = []string{"a\u2028b"} }, vault.RuleSchema, "tags"},
		"confidence":         {func(n *vault.NewMemory) { n.Memory.Confidence = 1.5 }, vault.RuleSchema, "confidence"},
		"empty body":         {func(n *vault.NewMemory) { n.Body = " \n" }, vault.RuleSchema, "body"},
		"body not UTF-8":     {func(n *vault.NewMemory) { n.Body = "a\xff" }, vault.RuleSchema, "body"},
		"body with NUL":      {func(n *vault.NewMemory) { n.Body = "a\x00b" }, vault.RuleSchema, "body"},
		"id escapes":         {func(n *vault.NewMemory) { n.Memory.ID = "../../x" }, vault.RuleSchema, "id"},
		"already superseded": {func(n *vault.NewMemory) { n.Memory.SupersededBy = []string{"x"} }, vault.RuleSchema, "superseded_by"},
		"year 10000":         {func(n *vault.NewMemory) { n.Memory.CreatedAt = time.Date(10000, 1, 1, 0, 0, 0, 0, time.UTC) }, vault.RuleSchema, ""},
		"too big":            {func(n *vault.NewMemory) { n.Body = strings.Repeat("a b ", 64<<10) }, vault.RuleSize, ""},
		"much too big":       {func(n *vault.NewMemory) { n.Body = strings.Repeat("a b ", 1<<20) }, vault.RuleSize, "body"},

		"name with slash":     {func(n *vault.NewMemory) { n.Name = "a/b" }, vault.RuleName, "name"},
		"name with backslash": {func(n *vault.NewMemory) { n.Name = `a\b` }, vault.RuleName, "name"},
		"name goes up":        {func(n *vault.NewMemory) { n.Name = ".." }, vault.RuleName, "name"},
		"hidden name":         {func(n *vault.NewMemory) { n.Name = ".a" }, vault.RuleName, "name"},
		"name like a flag":    {func(n *vault.NewMemory) { n.Name = "-rf" }, vault.RuleName, "name"},
		"name with colon":     {func(n *vault.NewMemory) { n.Name = "a:b" }, vault.RuleName, "name"},
		"name with NUL":       {func(n *vault.NewMemory) { n.Name = "a\x00" }, vault.RuleName, "name"},
		"name with space":     {func(n *vault.NewMemory) { n.Name = "a b" }, vault.RuleName, "name"},
		"name with bidi":      {func(n *vault.NewMemory) { n.Name = "a\u202eb" }, vault.RuleName, "name"},
		"name not UTF-8":      {func(n *vault.NewMemory) { n.Name = "a\xff" }, vault.RuleName, "name"},
		"long name":           {func(n *vault.NewMemory) { n.Name = strings.Repeat("好", 27) }, vault.RuleName, "name"},
		"device":              {func(n *vault.NewMemory) { n.Name = "CON" }, vault.RuleName, "name"},
		"device with ending":  {func(n *vault.NewMemory) { n.Name = "com1.txt" }, vault.RuleName, "name"},

		"no trust":  {func(n *vault.NewMemory) { n.Memory.Source = memsearch.Source{} }, vault.RuleProvenance, "source.trust"},
		"odd trust": {func(n *vault.NewMemory) { n.Memory.Source.Trust = "friend" }, vault.RuleProvenance, "source.trust"},
		"assistant": {func(n *vault.NewMemory) { n.Memory.Source.Trust = memsearch.TrustAssistant }, vault.RuleProvenance, "source.confirmed_by"},
		"tool":      {func(n *vault.NewMemory) { n.Memory.Source.Trust = memsearch.TrustTool }, vault.RuleProvenance, "source.confirmed_by"},
		"external":  {func(n *vault.NewMemory) { n.Memory.Source.Trust = memsearch.TrustExternal }, vault.RuleProvenance, "source.confirmed_by"},
		"untraced user": {func(n *vault.NewMemory) {
			n.Memory.Source.Trust, n.Memory.Category, n.Memory.Status = "tool", "user", "candidate"
		}, vault.RuleProvenance, "source"},

		"ends before it begins": {func(n *vault.NewMemory) { n.Memory.Valid = memsearch.Validity{From: day(5), Until: day(4)} }, vault.RuleValidity, "valid_to"},
		"ends as it begins":     {func(n *vault.NewMemory) { n.Memory.Valid = memsearch.Validity{From: day(5), Until: day(5)} }, vault.RuleValidity, "valid_to"},
		"began before the old":  {func(n *vault.NewMemory) { n.Memory.Supersedes, n.Memory.Valid.From = []string{"later"}, day(1) }, vault.RuleValidity, "valid_to"},
		"known id":              {func(n *vault.NewMemory) { n.Memory.ID = "known" }, vault.RuleExists, "id"},
		"supersedes itself":     {func(n *vault.NewMemory) { n.Memory.ID, n.Memory.Supersedes = "me", []string{"me"} }, vault.RuleCycle, "supersedes"},
		"closes a circle":       {func(n *vault.NewMemory) { n.Memory.ID, n.Memory.Supersedes = "end", []string{"chain"} }, vault.RuleCycle, "supersedes"},
		"supersedes nothing":    {func(n *vault.NewMemory) { n.Memory.Supersedes = []string{"none"} }, vault.RuleMissing, "supersedes"},
		"supersedes the past":   {func(n *vault.NewMemory) { n.Memory.Supersedes = []string{"retired"} }, vault.RuleStatus, "supersedes"},
		"old cannot be marked":  {func(n *vault.NewMemory) { n.Memory.Supersedes = []string{"flow"} }, vault.RuleFile, "supersedes"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			fill(t, dir, map[string]string{
				"known.md":   "---\nid: known\n---\nx\n",
				"later.md":   "---\nid: later\nvalid_from: 2026-11-10\n---\nx\n",
				"chain.md":   "---\nid: chain\nsupersedes: [link]\n---\nx\n",
				"link.md":    "---\nid: link\nsupersedes: [end]\n---\nx\n",
				"retired.md": "---\nid: retired\nstatus: retired\n---\nx\n",
				"flow.md":    "---\n{id: flow}\n---\nx\n",
			})
			before := tree(t, dir)
			n := fact("A summary", "A body.")
			tt.change(&n)
			m, err := writer(t, dir, options()).Create(t.Context(), n)
			r, ok := errors.AsType[*vault.RefusedError](err)
			if !ok || r.Rule != tt.rule || r.Field != tt.field || r.Op != "create" {
				t.Errorf("got %+v, %v; want a refusal by rule %s of field %q", m, err, tt.rule, tt.field)
			}
			if diff := cmp.Diff(before, tree(t, dir)); diff != "" {
				t.Errorf("disk changed (-before +after):\n%s", diff)
			}
			log := journalText(t, dir)
			if !strings.Contains(log, `"event":"refused","op":"create","rule":"`+string(tt.rule)+`"`) {
				t.Errorf("journal: %s", log)
			}
			for _, leak := range []string{key, "hunter2"} {
				if strings.Contains(log, leak) || err != nil && strings.Contains(err.Error(), leak) {
					t.Errorf("the secret leaked: %v\n%s", err, log)
				}
			}
		})
	}
}

func TestProvenanceLetsThrough(t *testing.T) {
	for name, change := range map[string]func(m *memsearch.Memory){
		"user's words": func(m *memsearch.Memory) { m.Category = memsearch.CategoryUser },
		"assistant candidate": func(m *memsearch.Memory) {
			m.Source.Trust, m.Status = memsearch.TrustAssistant, memsearch.StatusCandidate
		},
		"confirmed tool": func(m *memsearch.Memory) {
			m.Source = memsearch.Source{Trust: memsearch.TrustTool, ConfirmedBy: "n14"}
			m.Category = memsearch.CategoryFeedback
		},
		"traced candidate": func(m *memsearch.Memory) {
			m.Source = memsearch.Source{Trust: memsearch.TrustAssistant, NodeIDs: []string{"n1"}}
			m.Category, m.Status = memsearch.CategoryUser, memsearch.StatusCandidate
		},
	} {
		n := fact("A summary", "A body.")
		change(&n.Memory)
		if _, err := writer(t, t.TempDir(), options()).Create(t.Context(), n); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestRetireRefusesSecretReason(t *testing.T) {
	dir := t.TempDir()
	fill(t, dir, map[string]string{"a.md": "a"})
	err := writer(t, dir, options()).Retire(t.Context(), "a.md", memsearch.Bound{}, "password: hunter2")
	if r, ok := errors.AsType[*vault.RefusedError](err); !ok || r.Rule != vault.RuleSecret || r.Field != "reason" {
		t.Errorf("got %v", err)
	}
	if log := journalText(t, dir); strings.Contains(log, "hunter2") {
		t.Errorf("journal: %s", log)
	}
}

func TestNewID(t *testing.T) {
	at := time.Date(2026, 11, 29, 12, 15, 0, 0, time.FixedZone("", 2*3600))
	got, err := vault.NewID(at, strings.NewReader("\x00\x1f\x20\x0a\xff\x12"))
	if want := "mem_20261129101500_0z0azj"; err != nil || got != want {
		t.Errorf("got %q, %v; want %q", got, err, want)
	}
	if _, err := vault.NewID(at, strings.NewReader("abc")); err == nil {
		t.Error("an id from too little randomness")
	}
}
