package llm_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/memsearch/memsearch/internal/llm"
)

func TestObject(t *testing.T) {
	deep := strings.Repeat(`{"a":`, 100) + "1" + strings.Repeat("}", 100)
	for name, tt := range map[string]struct{ text, want string }{
		"plain":                       {` {"a": 1} `, `{"a":1}`},
		"byte order mark":             {"\ufeff{\"a\":1}", `{"a":1}`},
		"fence":                       {"```json\n{\"a\":1}\n```", `{"a":1}`},
		"fence, not closed":           {"```\n{\"a\":1}", `{"a":1}`},
		"fence, other language":       {"~~~javascript\n{\"a\":1}\n~~~", `{"a":1}`},
		"prose":                       {`Here: {"a":1}. Done.`, `{"a":1}`},
		"prose in brackets":           {`As [1] says {roughly}: {"a":1} (see [2] and {3})`, `{"a":1}`},
		"apostrophes":                 {`It's what I'd say: {"a":1}, isn't it?`, `{"a":1}`},
		"one quotation mark before":   {`A 5" disk: {"a":1}`, `{"a":1}`},
		"Chinese":                     {"结果：{\"a\":\"紫鷺\"}。", `{"a":"紫鷺"}`},
		"thought":                     {`<think>{"a":0}</think>{"a":1}`, `{"a":1}`},
		"thought in a thought":        {`<think><think>{"a":0}</think>{"a":0}</think>{"a":1}`, `{"a":1}`},
		"thought, not closed":         {`<think>so {"a":1}`, `{"a":1}`},
		"thought, not opened":         {`so {"a":0}</think>{"a":1}`, `{"a":1}`},
		"tag in a value":              {`{"a":"</think> is a tag"}`, `{"a":"</think> is a tag"}`},
		"several":                     {`{"a":0} no, {"a":1}`, `{"a":1}`},
		"several, the last is cut":    {`{"a":1} or {"a":2`, `{"a":1}`},
		"object before array":         {`{"a":1} [1]`, `{"a":1}`},
		"array":                       {`[{"a":1}]`, `[{"a":1}]`},
		"brackets in strings":         {`{"a":"}{[\"]"}`, `{"a":"}{[\"]"}`},
		"schema, then value":          {`{"type":"object","properties":{"a":{}}} {"a":1}`, `{"a":1}`},
		"value, then schema":          {`{"a":1} {"$schema":"x","type":"object"}`, `{"a":1}`},
		"value with such keys":        {`{"type":"note","properties":{}}`, `{"type":"note","properties":{}}`},
		"encoded twice":               {`"{\"a\":1}"`, `{"a":1}`},
		"empty":                       {`{}`, `{}`},
		"lone surrogate":              {`{"a":"\ud800"}`, `{"a":"\ud800"}`},
		"trailing commas":             {`{"a":[1,],}`, `{"a":[1]}`},
		"line comment":                {"{\"a\":1 // one\n}", `{"a":1}`},
		"block comment":               {`{/* one */"a":1}`, `{"a":1}`},
		"single quotes":               {`{'a':'b'}`, `{"a":"b"}`},
		"no quotes":                   {`{a:1}`, `{"a":1}`},
		"words of Python":             {`{"a":True,"b":None}`, `{"a":true,"b":null}`},
		"cut":                         {`{"a":[1,2`, `{"a":[1,2]}`},
		"repaired object, then array": {`{'a':1} see [2]`, `{"a":1}`},
		"deep":                        {deep, deep},
		"array of numbers":            {`[1,2]`, `[1,2]`},
		"second is to be repaired":    {`{"a":0} no: {'a':1}`, `{"a":0}`}, // what is JSON goes before what almost is
	} {
		if got, err := llm.Object(tt.text); err != nil || string(got) != tt.want {
			t.Errorf("%s: %s, %v, want %s", name, got, err, tt.want)
		}
	}
}

func TestNoObject(t *testing.T) {
	for _, text := range []string{"", " \n", "null", "7", `"violet"`, "I cannot see violet.", "<think>violet", "</think>", "}", "]violet",
		`{"type":"object","properties":{"violet":{}},"required":["violet"]}`, `{"$schema":"violet"}`, "```json\n```", `"\"violet\""`,
		"\xff\xfe", strings.Repeat("[", 100_000), strings.Repeat(" ", 1<<20) + "{}"} {
		got, err := llm.Object(text)
		if !errors.Is(err, llm.ErrReply) || strings.Contains(err.Error(), "violet") {
			t.Errorf("%.40q: %.40s, %v", text, got, err)
		}
	}
}

// FuzzObjectTwice: what is found has the form that it has when it is read again.
func FuzzObjectTwice(f *testing.F) {
	for _, s := range []string{`{"a":1}`, "```json\n{'a':1,}\n```", `<think>{</think>[{}]`, `{"a":{"b":[1,`, strings.Repeat(`[{"a":`, 70),
		`{"a":"</think>"}`, "{\"a\":\"\xff\"}", `{'$schema':1} {}`} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		raw, err := llm.Object(text)
		if err != nil || len(raw) > 1<<20 {
			return
		}
		if again, err := llm.Object(string(raw)); err != nil || string(again) != string(raw) {
			t.Fatalf("%q: first %q, then %q, %v", text, raw, again, err)
		}
	})
}
