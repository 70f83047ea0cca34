package replay_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/memsearch/memsearch/eval/replay"
)

// qa writes a small data set in the form of LoCoMo: turns in a corpus.jsonl and
// sessions in a folder.
func qa(t *testing.T) (dir string, o replay.QAOptions) {
	dir = write(t, map[string]string{
		"corpus.jsonl": `{"id": "c1:D1:1", "conversation": "c1", "created_at": "2023-05-08T13:56:00", "title": "Hello", "text": "Ann: My cat is called Bilbo."}
{"id": "c1:D1:2", "conversation": "c1", "text": "Bob: I moved to Oslo: in 2021."}
{"id": "all", "conversation": "*", "text": "--- Everybody reads this."}
`,
		"sessions/c2/s1.md": "---\nid: c2/s1\nconversation: c2\ncreated_at: 2024-01-02T10:00:00\n---\n我的车牌号是晚舟七号。\n",
		"sessions/c2/s2.md": "No front matter, in no conversation.\n",
		"queries.jsonl": `{"id": "q0", "conversation": "c1", "text": "What is the name of Ann's cat?", "answer": "Bilbo.", "category": "single_hop", "query_date": "2023-10-22T09:55:00"}
{"id": "q1", "conversation": "c1", "text": "When did Bob move to Oslo?", "answer": 2020, "audit_answer": "2021", "category": "temporal", "query_date": "2023-10-22"}
{"id": "q2", "conversation": "c1", "text": "Why did Bob move?", "answer": "Because he had found a position at the university there.", "category": "open_domain", "query_date": "2023-10-22"}
{"id": "q3", "conversation": "c1", "text": "What is the name of Bob's cat?", "answer": "Bilbo", "category": "adversarial", "query_date": "2023-10-22"}
{"id": "q4", "conversation": "c2", "text": "我的车牌号是什么？", "answer": "晚舟七号"}
{"id": "q5", "conversation": "c2", "text": "Nobody answered?", "category": "x"}
{"id": "q6", "conversation": "c2", "text": "No document?", "answer": "none"}
{"id": "q7", "conversation": "c1", "text": "How many?", "answer": "several possibilities", "query_date": "2023-10-22"}
`,
		"qrels.tsv": "q0\t0\tc1:D1:1\t1\nq1 0 c1:D1:2 1\nq2 0 c1:D1:2 1\nq4 0 c2/s1 1\nq6 0 elsewhere 1\nq7 0 all 1\n",
	})
	return dir, replay.QAOptions{
		Corpus:    []string{filepath.Join(dir, "corpus.jsonl"), filepath.Join(dir, "sessions")},
		Questions: filepath.Join(dir, "queries.jsonl"), Qrels: filepath.Join(dir, "qrels.tsv"),
		Dir: filepath.Join(dir, "out"), Now: time.Date(2024, 2, 1, 9, 0, 0, 0, time.UTC),
	}
}

func TestFromQA(t *testing.T) {
	_, o := qa(t)
	s, skips, err := replay.FromQA(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	want := replay.QASkips{"the answer is long, and there is no judge": 1, "no answer": 1, "no document answers": 1, "its check cannot tell right from wrong": 1}
	if d := cmp.Diff(want, skips); d != "" {
		t.Errorf("skips (-want +got):\n%s", d)
	}
	type row struct {
		ID, Tags, Scope, Now string
		Right, Wrong         []string
	}
	var got []row
	for _, task := range s.Tasks {
		r := row{ID: task.ID, Tags: strings.Join(task.Tags, " "), Scope: task.Scopes[0], Now: task.Now.Format(time.RFC3339)}
		for _, x := range task.Right {
			r.Right = append(r.Right, x.Answer)
		}
		for _, x := range task.WrongAnswers {
			r.Wrong = append(r.Wrong, x.Answer)
		}
		got = append(got, r)
	}
	vague := "It depends; there are several possibilities."
	wantRows := []row{
		{"q0", "helps en single_hop", "c1", "2023-10-22T09:55:00Z", []string{"Bilbo."}, []string{vague, "2021"}},
		{"q1", "helps en temporal", "c1", "2023-10-22T23:59:59Z", []string{"2021"}, []string{vague, "Because he had found a position at the university there."}},
		{"q3", "trap en", "c1", "2023-10-22T23:59:59Z", []string{"I do not know."}, []string{vague, "Bilbo"}},
		{"q4", "helps zh", "c2", "2024-02-01T09:00:00Z", []string{"晚舟七号"}, []string{"这要看情况，有好几种可能。", "none"}},
	}
	if d := cmp.Diff(wantRows, got); d != "" {
		t.Errorf("tasks (-want +got):\n%s", d)
	}
	for i, gold := range []string{"c1:D1:1", "c1:D1:2", "", "c2/s1"} {
		task := &s.Tasks[i]
		st := materialise(t, s, task)
		if got := strings.Join(st.Gold, " "); got != gold {
			t.Errorf("gold of %s is %q, want %q", task.ID, got, gold)
		}
		if res := ask(t, task, open(t, task, st)); gold != "" && !has(res, gold) {
			t.Errorf("%s: the gold memory is not injected: %v", task.ID, res.Reasons)
		}
	}
	for name, text := range map[string]string{
		"c1/documents/000000.md": "---\nid: c1:D1:1\ntitle: Hello\ncreated_at: \"2023-05-08T13:56:00Z\"\n---\nAnn: My cat is called Bilbo.\n",
		"c2/documents/000002.md": "---\nid: all\n---\n--- Everybody reads this.\n",
	} {
		if raw, err := os.ReadFile(filepath.Join(o.Dir, name)); err != nil || string(raw) != text {
			t.Errorf("%s is %q, %v", name, raw, err)
		}
	}
	if _, _, err := replay.FromQA(t.Context(), o); err == nil || !strings.Contains(err.Error(), "is not empty") {
		t.Errorf("into a used folder: %v", err)
	}
}

// TestFromQASkips: questions that say their answer would end every replay as leaks,
// ids that become one would end the conversion, and nobody says a list.
func TestFromQASkips(t *testing.T) {
	dir, o := qa(t)
	lines := `{"id": "q/0", "conversation": "c1", "text": "What is the name of Ann's cat?", "answer": "Bilbo"}
{"id": "Q-0", "conversation": "c1", "text": "Where did Bob move?", "answer": "Oslo"}
{"id": "q1", "conversation": "c1", "text": "Is the cat called Bilbo?", "answer": "Bilbo"}
{"id": "q2", "conversation": "c1", "text": "Which cats?", "answer": ["Bilbo"]}
{"id": "q3", "conversation": "c1", "text": "Which cat?", "answer": {"name": "Bilbo"}}
`
	for name, text := range map[string]string{"queries.jsonl": lines, "qrels.tsv": "q/0 0 c1:D1:1 1\nQ-0 0 c1:D1:2 1\nq1 0 c1:D1:1 1\nq2 0 c1:D1:1 1\nq3 0 c1:D1:1 1\n"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	s, skips, err := replay.FromQA(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(replay.QASkips{"another has its id": 1, "it says its own answer": 1, "no answer": 2}, skips); d != "" || len(s.Tasks) != 1 || s.Tasks[0].ID != "q-0" {
		t.Errorf("%d tasks, skips (-want +got):\n%s", len(s.Tasks), d)
	}
}

// TestFromQASpellings: a date or a number in another spelling is the same answer,
// and there are many ways not to know.
func TestFromQASpellings(t *testing.T) {
	dir, o := qa(t)
	lines := `{"id": "day", "conversation": "c1", "text": "When did Bob move?", "answer": "3 May 2023"}
{"id": "count", "conversation": "c1", "text": "How many cats has Ann?", "answer": 6}
{"id": "trap", "conversation": "c1", "text": "Where did Ann move?", "answer": "Oslo", "category": "adversarial"}
`
	for name, text := range map[string]string{"queries.jsonl": lines, "qrels.tsv": "day 0 c1:D1:2 1\ncount 0 c1:D1:1 1\n"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	s, skips, err := replay.FromQA(t.Context(), o)
	if err != nil || len(s.Tasks) != 3 {
		t.Fatalf("%v, %v", skips, err)
	}
	for answer, want := range map[string][3]bool{ // day, count, trap
		"On 3 May 2023.":                     {true, false, false},
		"Bob moved on May 3, 2023":           {true, false, false},
		"It was May 3rd, 2023.":              {true, false, false},
		"the 3rd of May 2023":                {true, false, false},
		"2023-05-03":                         {true, false, false},
		"13 May 2023":                        {false, false, false},
		"May 2023":                           {false, false, false},
		"She has six cats.":                  {false, true, false},
		"6":                                  {false, true, false},
		"sixteen":                            {false, false, false},
		"I can't tell where Ann moved.":      {false, false, true},
		"That isn't mentioned anywhere.":     {false, false, true},
		"Nothing is said about that.":        {false, false, true},
		"I do not know for certain: to Oslo": {false, false, false},
	} {
		for i := range s.Tasks {
			pass, _, err := s.Tasks[i].Grade(t.Context(), replay.Outcome{Answer: answer})
			if err != nil || pass != want[i] {
				t.Errorf("%s: %q: %v, %v", s.Tasks[i].ID, answer, pass, err)
			}
		}
	}
}

func TestFromQAJudged(t *testing.T) {
	dir, o := qa(t)
	o.Judge, o.Dir, o.Now = true, filepath.Join(dir, "judged"), time.Time{}
	s, skips, err := replay.FromQA(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(replay.QASkips{"no query_date, and no time is given": 3}, skips); d != "" {
		t.Errorf("skips (-want +got):\n%s", d)
	}
	judged := 0
	for _, task := range s.Tasks {
		if task.Checks[0].Judged() {
			judged++
		}
	}
	if len(s.Tasks) != 5 || judged != 4 {
		t.Errorf("%d tasks, %d judged", len(s.Tasks), judged)
	}
	nothing := `{"id": "a", "text": "A?", "query_date": "2023-10-22"}` + "\n" + `{"id": "b", "text": "B?", "answer": "B"}` + "\n"
	if err := os.WriteFile(o.Questions, []byte(nothing), 0o644); err != nil {
		t.Fatal(err)
	}
	o.Dir = filepath.Join(dir, "second")
	want := "no question became a task: no answer (1), no query_date, and no time is given (1)"
	if _, _, err := replay.FromQA(t.Context(), o); err == nil || !strings.HasSuffix(err.Error(), want) {
		t.Errorf("nothing to convert: %v, want %q", err, want)
	}
	o.Dir, o.Qrels = filepath.Join(dir, "third"), filepath.Join(dir, "none")
	if _, _, err := replay.FromQA(t.Context(), o); err == nil {
		t.Error("without judgements")
	}
}

// TestFromQAData converts real conversations where they are at hand.
func TestFromQAData(t *testing.T) {
	data := os.Getenv("MEMSEARCH_DATA")
	if data == "" {
		data = "../../../shared/data"
	}
	root := filepath.Join(data, "longmemeval3")
	if _, err := os.Stat(root); err != nil {
		t.Skip("no evaluation data: set MEMSEARCH_DATA")
	}
	s, skips, err := replay.FromQA(t.Context(), replay.QAOptions{Corpus: []string{root + "/corpus"}, Questions: root + "/queries.jsonl",
		Qrels: root + "/qrels.tsv", Dir: filepath.Join(t.TempDir(), "lme"), Judge: true})
	if err != nil || len(s.Tasks)+sum(skips) != 26 {
		t.Fatalf("%v, %v", skips, err)
	}
}

func sum(skips replay.QASkips) (n int) {
	for _, c := range skips {
		n += c
	}
	return n
}
