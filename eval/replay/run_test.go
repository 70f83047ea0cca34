package replay_test

import (
	"fmt"
	"maps"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/memsearch/memsearch/core/config"
	"github.com/memsearch/memsearch/eval/replay"
	"github.com/memsearch/memsearch/internal/llm/llmtest"
)

// A fact is what the scripted model can read in its context, and when.
type fact struct{ ask, says, summary string }

// facts are by task. The model of the tests knows that a jetty is a quay; the
// words of a search do not. What the catalog says about the anchor helps nobody.
var facts = map[string]fact{
	"h1": {"harbour code", `harbour code is (\w+)`, "The harbour code"},
	"h2": {"lantern number", `lantern number is (\w+)`, "The lantern number"},
	"h3": {"compass name", `compass name is (\w+)`, "The compass name"},
	"h4": {"mast colour", `mast colour is (\w+)`, "The mast colour"},
	"h5": {"jetty", `quay secret is (\w+)`, "The quay secret"},
	"h6": {"anchor owner", `anchor owner is (\w+)`, "A remark of last week"},
	"h7": {"tide table", `tide table is (\w+)`, "The tide table"},
	"h8": {"bell metal", `bell metal is (\w+)`, "The bell metal"},
	"t1": {"ferry", `ferry leaves at (\w+)`, "When the ferry leaves"},
	"t2": {"gull nickname", `gull nickname is (\w+)`, "The gull nickname"},
}

// scripted answers from its context alone, and from what anybody knows. Of
// several values it takes the first in the alphabet.
func scripted(_, content, prompt string) string {
	if strings.Contains(prompt, "plus two") {
		return "four"
	}
	for _, f := range facts {
		if !strings.Contains(prompt, f.ask) {
			continue
		}
		var values []string
		for _, text := range []string{content, prompt} {
			for _, m := range regexp.MustCompile(f.says).FindAllStringSubmatch(text, -1) {
				values = append(values, m[1])
			}
			if len(values) > 0 {
				return slices.Min(values)
			}
		}
	}
	return "unknown"
}

const shipTasks = `version: 1
name: ship
vault: vault
now: 2026-11-29T10:00:00Z
tasks:
`

// ship writes the set of twelve tasks: eight that need memory, of which two have
// a superseded fact, two traps, and two on which memory must not matter.
func ship(t *testing.T) *replay.Set {
	t.Helper()
	note := func(id, summary, more, text string) string {
		return fmt.Sprintf("---\nid: mem_%s\ncategory: project\nsummary: %s\n%s---\n%s\n", id, summary, more, text)
	}
	files := map[string]string{}
	var tasks strings.Builder
	tasks.WriteString(shipTasks)
	values := []string{"amber", "seventy", "Polaris", "green", "coral", "Ines", "silver", "tin"}
	old := map[string]string{"h7": "bronze", "h8": "brass"}
	for i, value := range values {
		id := fmt.Sprintf("h%d", i+1)
		f := facts[id]
		text := strings.Replace(f.says, `(\w+)`, value, 1)
		more, stale := "", ""
		if was := old[id]; was != "" {
			more, stale = "supersedes: [mem_"+id+"_old]\nvalid_from: 2026-06-01\n", "mem_"+id+"_old"
			files["vault/"+id+"old.md"] = note(id+"_old", f.summary, "status: superseded\nvalid_to: 2026-06-01\nsuperseded_by: [mem_"+id+"]\n",
				"The "+strings.Replace(f.says, `(\w+)`, was, 1)+".")
		}
		files["vault/"+id+".md"] = note(id, f.summary, more, "The "+text+".")
		fmt.Fprintf(&tasks, "  - {id: %s, tags: [helps], prompt: \"Which %s?\", gold: [mem_%s], stale: [%s], checks: [{type: exact, value: %s}], right: [%s], wrong_answers: [unknown, bronze, brass]}\n",
			id, f.ask, id, stale, value, value)
	}
	files["vault/ferry.md"] = note("ferry", facts["t1"].summary, "", "The ferry leaves at noon.")
	files["vault/gull.md"] = note("gull", facts["t2"].summary, "", "The gull nickname is Bosun.")
	files["vault/useless.md"] = note("useless", "Words on the wall", "", "Three plus two hangs on the wall in blue letters.")
	tasks.WriteString(`  - id: t1
    tags: [trap]
    prompt: "Today the ferry leaves at seven. When does the ferry leave today?"
    wrong: [mem_ferry]
    checks: [{type: exact, value: seven}]
    right: [seven]
    wrong_answers: [noon]
  - id: t2
    tags: [trap]
    prompt: "Which gull nickname?"
    wrong: [mem_gull]
    edits: [{at: 2026-11-01, op: forget, id: mem_gull}]
    checks: [{type: exact, value: unknown}]
    right: [unknown]
    wrong_answers: [Bosun]
  - {id: n1, tags: [neutral], prompt: "Two plus two?", checks: [{type: exact, value: four}], right: [four], wrong_answers: [five]}
  - {id: n2, tags: [neutral], prompt: "How much is one plus two plus one?", checks: [{type: exact, value: four}], right: [four], wrong_answers: [five]}
`)
	files["tasks.yaml"] = tasks.String()
	return load(t, filepath.Join(write(t, files), "tasks.yaml"))
}

var queryLine = regexp.MustCompile(`(?m)^Query: (.*)$`)

// selecting is a server that picks the lines of a catalog whose summary is that
// of the task asked for.
func selecting(t *testing.T) *llmtest.Server {
	return llmtest.New(t, llmtest.Func(func(r *llmtest.Request) string {
		prompt := r.Prompt()
		query := queryLine.FindStringSubmatch(prompt)[1]
		picked := []string{}
		for _, f := range facts {
			if !strings.Contains(query, f.ask) || f.summary == facts["h6"].summary {
				continue
			}
			for _, l := range regexp.MustCompile(`(?m)^(\d+)\. .*: `+f.summary+`$`).FindAllStringSubmatch(prompt, -1) {
				picked = append(picked, l[1])
			}
		}
		return `{"selected": [` + strings.Join(picked, ", ") + `]}`
	}))
}

func settings(t *testing.T, flags map[string]string) *config.Config {
	t.Helper()
	all := map[string]string{"model": "none"}
	maps.Copy(all, flags)
	c, err := config.Load(config.Options{Flags: all})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func arms(t *testing.T, names ...string) []replay.Arm {
	t.Helper()
	list, err := replay.Arms(names...)
	if err != nil {
		t.Fatal(err)
	}
	return list
}

func records(t *testing.T, dir string) (*replay.Header, []replay.Record) {
	t.Helper()
	h, list, err := replay.ReadRecords(dir)
	if err != nil {
		t.Fatal(err)
	}
	return h, list
}

func analyse(t *testing.T, dir string) *replay.Report {
	t.Helper()
	h, list := records(t, dir)
	r, err := replay.Analyse(h, list)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// TestOutcomes runs twelve tasks in six arms. The table is worked out by hand
// from what the scripted model can read in each arm.
func TestOutcomes(t *testing.T) {
	t.Parallel()
	set := ship(t)
	srv := selecting(t)
	c := settings(t, map[string]string{"profiles.main.model": "m", "profiles.main.base_url": srv.URL, "profiles.main.api_key_env": "", "rerank.mode": "never"})
	dir := t.TempDir()
	var found replay.Detectable
	begin := func(h *replay.Header) { found = h.Detectable() }
	if err := replay.Run(t.Context(), set, arms(t, replay.ArmNames()...), replay.Scripted(scripted), &replay.Options{Out: dir, Settings: c, Begin: begin}); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(replay.Detectable{Tasks: 12, Comparisons: 5, Discordant: .3}, found); diff != "" {
		t.Error(diff)
	}
	_, list := records(t, dir)
	got := map[string]string{}
	var order []string
	for _, r := range list {
		mark := "."
		if r.Pass {
			mark = "+"
		}
		if got[r.Task] == "" {
			order = append(order, r.Task)
		}
		got[r.Task] += mark
		if r.Task == "n2" && r.Arm == replay.ArmMemory && !slices.Equal(r.Injected, []string{"mem_useless"}) {
			t.Errorf("%s: the useless memory is not there: %v", r.Task, r.Injected)
		}
		if r.Error != "" || r.Status == "degraded" {
			t.Errorf("%s %s: %s %s %v", r.Task, r.Arm, r.Error, r.Message, r.Reasons)
		}
	}
	//                 none, memory, llm-selection, oracle, stale, random
	want := map[string]string{
		"h1": ".++++.", "h2": ".++++.", "h3": ".++++.", "h4": ".++++.",
		"h5": "..++..", // other words than the memory's
		"h6": ".+.++.", // the catalog does not say it
		"h7": ".+++..", // bronze comes before silver
		"h8": ".+++..",
		"t1": "+..+.+", // the memory of the ferry harms
		"t2": "++++++", // forgotten everywhere
		"n1": "++++++", "n2": "++++++",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if !slices.Equal(order, []string{"h1", "h2", "h3", "h4", "h5", "h6", "h7", "h8", "t1", "t2", "n1", "n2"}) {
		t.Errorf("order %v", order)
	}
	checkShipReport(t, analyse(t, dir))
}

// checkShipReport compares with figures worked out by hand. McNemar: 7 to 1 is
// 2(1+8)/2^8, 8 to 0 is 2/2^8, 5 to 1 is 2(1+6)/2^6. Five comparisons need eight
// tasks that differ.
func checkShipReport(t *testing.T, r *replay.Report) {
	t.Helper()
	type row struct {
		Passed           int
		Helpful, Harmful string
		P, Holm          float64
		Verdict          string
		Chain            replay.ChainReport
	}
	got := map[string]row{}
	for _, a := range r.Arms {
		o := row{Passed: a.Passed, Chain: a.Chain}
		if c := a.Against; c != nil {
			o.Helpful, o.Harmful, o.P, o.Holm, o.Verdict = strings.Join(c.Helpful, " "), strings.Join(c.Harmful, " "), c.P, c.Holm, c.Verdict
		}
		got[a.Arm] = o
	}
	nothing := replay.ChainReport{NotFound: 8}
	want := map[string]row{
		"none":          {Passed: 4, Chain: nothing},
		"memory":        {10, "h1 h2 h3 h4 h6 h7 h8", "t1", 18. / 256, 4 * 18. / 256, replay.VerdictNoDifference, replay.ChainReport{NotFound: 1, Held: 7}},
		"llm-selection": {10, "h1 h2 h3 h4 h5 h7 h8", "t1", 18. / 256, 4 * 18. / 256, replay.VerdictNoDifference, replay.ChainReport{NotFound: 1, Held: 7}},
		"oracle":        {12, "h1 h2 h3 h4 h5 h6 h7 h8", "", 2. / 256, 5 * 2. / 256, replay.VerdictBetter, replay.ChainReport{Held: 8}},
		"stale":         {8, "h1 h2 h3 h4 h6", "t1", 14. / 64, 2 * 14. / 64, replay.VerdictNotEnough, replay.ChainReport{NotFound: 1, UsedWrongly: 2, Held: 5}},
		"random":        {4, "", "", 1, 1, replay.VerdictNotEnough, nothing},
	}
	if diff := cmp.Diff(want, got, cmpopts.EquateApprox(0, 1e-12)); diff != "" {
		t.Error(diff)
	}
	if d := r.Arm("random").Against.Diff; d.Estimate != 0 {
		t.Errorf("the negative control gains %+v", d)
	}
	for arm, want := range map[string][2]int{"memory": {1, 0}, "stale": {1, 2}, "oracle": {0, 0}, "none": {0, 0}} {
		if c := r.Arm(arm).Recall; c.WrongRuns != want[0] || c.StaleRuns != want[1] {
			t.Errorf("%s: %+v", arm, c)
		}
	}
	if r.Planned != 72 || r.Runs != 72 || len(r.Notes) != 0 {
		t.Errorf("%d of %d runs, %q", r.Runs, r.Planned, r.Notes)
	}
}

// TestBudget: no arm gets more than the others may, and a control never gets a
// memory that its task names.
func TestBudget(t *testing.T) {
	t.Parallel()
	set := some(t, ship(t), "h1", "h7", "n2")
	list := arms(t, replay.ArmMemory, replay.ArmOracle, replay.ArmStale, replay.ArmRandom)
	for _, budget := range []int{20, 260, 2000} {
		o := &replay.Options{Out: t.TempDir(), Settings: settings(t, nil), Budget: budget, Repetitions: 2}
		if err := replay.Run(t.Context(), set, list, replay.Scripted(scripted), o); err != nil {
			t.Fatal(err)
		}
		_, recs := records(t, o.Out)
		memory := map[string]int{}
		for _, r := range recs {
			if r.ContextTokens > budget || budget == 20 && len(r.Injected) > 0 || budget == 2000 && r.Arm == replay.ArmOracle && r.HasGold != r.GoldInjected {
				t.Errorf("budget %d: %+v", budget, r)
			}
			switch r.Arm {
			case replay.ArmMemory:
				memory[r.Task] = len(r.Injected)
			case replay.ArmRandom:
				if len(r.Gold)+len(r.Stale)+len(r.Wrong) > 0 || len(r.Injected) != memory[r.Task] {
					t.Errorf("budget %d: random has %v, memory %d", budget, r.Injected, memory[r.Task])
				}
			}
		}
		if len(recs) != 24 {
			t.Errorf("%d records", len(recs))
		}
	}
}

// TestOracleOfLongMemories: of a memory that does not fit the budget the oracle hands
// over the part that says the answer, wherever it stands.
func TestOracleOfLongMemories(t *testing.T) {
	t.Parallel()
	var long strings.Builder
	long.WriteString("---\nid: mem_log\nsummary: The log of the voyage\n---\n# Log\n")
	for day := range 80 {
		fmt.Fprintf(&long, "\n## Day %d\n\nWind from the west, sea calm, nothing was seen but gulls and a few sails far off. All are well.\n", day+1)
		if day == 70 {
			long.WriteString("The harbour code is amber.\n")
		}
	}
	dir := write(t, map[string]string{"vault/log.md": long.String(), "tasks.yaml": shipTasks +
		"  - {id: h1, tags: [helps], prompt: \"Which harbour code?\", gold: [mem_log], checks: [{type: exact, value: amber}], right: [amber], wrong_answers: [unknown]}\n"})
	out := t.TempDir()
	o := &replay.Options{Out: out, Settings: settings(t, nil), Budget: 300}
	if err := replay.Run(t.Context(), load(t, filepath.Join(dir, "tasks.yaml")), arms(t, "none", "oracle"), replay.Scripted(scripted), o); err != nil {
		t.Fatal(err)
	}
	_, list := records(t, out)
	for _, r := range list {
		if r.Pass != (r.Arm == "oracle") {
			t.Errorf("%s: pass %v", r.Arm, r.Pass)
		}
	}
}
