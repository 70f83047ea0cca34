package main

import "testing"

// each asks for one file in several ways.
func each(path string, queries ...string) []step {
	var out []step
	for _, q := range queries {
		out = append(out, first(q, path))
	}
	return out
}

func TestSpellings(t *testing.T) {
	runCases(t, []recallCase{
		{name: "camel/number", guards: "a name in camel case is lost in front of a number", files: notes{"z.md": "We run PostgreSQL16 there.\n", "a.md": "We run Redis there.\n"},
			steps: each("z.md", "postgresql", "PostgreSQL", "postgresql16", "PostgreSQL 16")},
		{name: "camel/inside", guards: "a name in camel case is lost between numbers", files: notes{"z.md": "Enable GitHub2FA for admins.\n", "a.md": "Enable sign-on for admins.\n"},
			steps: each("z.md", "github", "GitHub", "2fa")},
		{name: "camel/dotted", guards: "a method is found only with its package", files: notes{"z.md": "Use os.ReadFile here.\n", "a.md": "Use os.WriteFile here.\n"},
			steps: each("z.md", "readfile", "ReadFile", "read file", "os.ReadFile")},
		{name: "camel/path", guards: "a component is found only with its folder", files: notes{"z.md": "See src/MyComponent.tsx for it.\n", "a.md": "See src/Other.tsx for it.\n"},
			steps: each("z.md", "mycomponent", "MyComponent", "my component", "MyComponent.tsx")},
		{name: "snake/scope", guards: "a name in snake case is found only with its scope", files: notes{"z.md": "Use std::unique_ptr here.\n", "a.md": "Use std::shared_ptr here.\n"},
			steps: each("z.md", "unique_ptr", "uniqueptr", "UniquePtr", "std::unique_ptr<T>")},
		{name: "numbers/hyphens", guards: "hyphens in a number must be typed", files: notes{"z.md": "ISBN 978-3-16-148410-0\n", "a.md": "ISBN 978-0-26-203384-8\n"},
			steps: each("z.md", "9783161484100", "978-3-16-148410-0", "978 3 16 148410 0")},
		{name: "numbers/spaces", guards: "spaces in a number must be typed", files: notes{"z.md": "Card 4111 1111 2222 3333\n", "a.md": "Card 5500 0000 0000 0004\n"},
			steps: each("z.md", "4111111122223333", "4111-1111-2222-3333", "4111 1111 2222 3333")},
		{name: "numbers/telephone", guards: "a telephone number is found only as it was written", files: notes{"z.md": "手机号13800138000是张伟的。\n", "a.md": "手机号13900139000是李娜的。\n"},
			steps: each("z.md", "13800138000", "138 0013 8000", "138-0013-8000", "+86 138 0013 8000")},
		{name: "numbers/network card", guards: "the marks in an address must be typed", files: notes{"z.md": "The printer has 00:1B:44:11:3A:B7.\n", "a.md": "The scanner has 00:1B:44:11:3A:B8.\n"},
			steps: each("z.md", "00:1b:44:11:3a:b7", "00-1B-44-11-3A-B7", "001b44113ab7")},
		{name: "numbers/hexadecimal", guards: "a number is found only with its prefix", files: notes{"z.md": "The code is 0x1F4A9.\n", "a.md": "The code is 0x1F4AA.\n"}, steps: each("z.md", "0x1f4a9", "1F4A9")},
		{name: "full width", guards: "full-width marks part an id", files: notes{"z.md": "ＡＢＣ－１２３４を確認\n", "a.md": "ＡＢＣ－５６７８を確認\n"}, steps: each("z.md", "ABC-1234", "abc1234", "ＡＢＣ－１２３４")},
		{name: "terminal", guards: "the colours of a pasted log hide its words", files: notes{"z.md": "log: \x1b[31mosprey\x1b[0m fell\n", "a.md": "log: heron fell\n"},
			steps: each("z.md", "osprey", "\x1b[31mosprey\x1b[0m", "\x1b[1mosprey")},
		{name: "entities", guards: "entities hide letters", files: notes{"z.md": "Q&amp;A in the caf&eacute;\n", "a.md": "Panel in the bar\n"}, steps: each("z.md", "Q&A", "café", "Q&amp;A")},
		{name: "TOML", guards: "TOML front matter says nothing", files: notes{"z.md": "+++\ntitle = \"Turaco\"\ntags = [\"zoo\"]\ndate = 2026-03-12\n+++\nbody\n", "a.md": "other body\n"},
			steps: append(each("z.md", "turaco", "zoo", "what happened on 12 March 2026"), unchanged("z.md"))},
		{name: "path/dates", guards: "folders of dates are not read", files: notes{"2026/03/14.md": "one\n", "2026/04/14.md": "two\n", "log/2026-03/16.md": "three\n", "2026-03-17/notes.md": "four\n"}, steps: []step{
			first("what happened on 2026-03-14", "2026/03/14.md", now("2026-05-01")...), first("20260414", "2026/04/14.md", now("2026-05-01")...),
			first("3月16号做了什么", "log/2026-03/16.md", now("2026-05-01")...), first("March 17th", "2026-03-17/notes.md", now("2026-05-01")...)}},
		{name: "weeks ago", guards: "a day of the same week comes before the very day", files: diary(), steps: []step{
			first("what did I do two weeks ago", march(12), now("2026-03-26")...), first("两周前做了什么", march(12), now("2026-03-26")...), first("a week ago", march(19), now("2026-03-26")...),
			within(7, "一周前做了什么", march(17), now("2026-03-26")...)}},
	})
}
