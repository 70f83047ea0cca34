package main

import (
	"strings"
	"testing"
	"unicode/utf16"
)

// utf16Text is text in UTF-16 with a byte order mark.
func utf16Text(text string, big bool) string {
	var b strings.Builder
	for _, u := range append([]uint16{0xfeff}, utf16.Encode([]rune(text))...) {
		if big {
			b.WriteString(string([]byte{byte(u >> 8), byte(u)}))
		} else {
			b.WriteString(string([]byte{byte(u), byte(u >> 8)}))
		}
	}
	return b.String()
}

func TestOddFiles(t *testing.T) {
	const bom = "\ufeff"
	runCases(t, []recallCase{
		{name: "bom and crlf", guards: "a byte order mark or CRLF hides the front matter", files: notes{"b.md": bom + "---\r\nsummary: Zephyr rollout plan\r\ntags: [infra]\r\n---\r\n\r\nSteps follow.\r\n"},
			steps: []step{first("zephyr", "b.md"), unchanged("b.md")}},
		{name: "bom and crlf/cr", guards: "lone carriage returns make one line of a file", files: notes{"b.md": "---\rsummary: Sirocco plan\r---\r\rSteps follow.\r\rThe mistral comes later.\r"},
			steps: []step{first("sirocco", "b.md"), first("mistral", "b.md"), unchanged("b.md")}},
		{name: "utf-16", guards: "UTF-16 is read as noise", files: notes{"le.md": utf16Text("# Winds\n\nkeyword levanter\n", false), "be.md": utf16Text("---\nsummary: keyword ostro\n---\n风向记录：西洛可风。\n", true)},
			steps: []step{first("levanter", "le.md"), first("ostro", "be.md"), first("西洛可风", "be.md"), unchanged("le.md")}},
		{name: "gb18030", guards: "Chinese notes of old editors are noise", files: notes{"g.md": "# \xb7\xe7\n\n\xb6\xab\xc4\xcf\xb7\xe7\xba\xdc\xb4\xf3\xa1\xa3\n"},
			steps: []step{first("东南风", "g.md"), unchanged("g.md")}},
		{name: "invalid utf-8", guards: "one bad byte drops the file", files: notes{"i.md": "# Bad \xff\xfe byte\nkeyword bora \x00 here\n"}, steps: []step{first("bora", "i.md"), unchanged("i.md")}},
		{name: "decomposed name", guards: "a decomposed file name is another path", files: notes{"re\u0301sume\u0301.md": "# CV\nThe curriculum is kept here, keyword quixotic.\n"},
			steps: []step{first("quixotic", "r\u00e9sum\u00e9.md")}},
		{name: "decomposed name/folder", guards: "a decomposed folder name is another path", files: notes{"Mu\u0308nchen/pla\u0308ne.md": "keyword saudade\n"},
			steps: []step{first("saudade", "M\u00fcnchen/pl\u00e4ne.md"), first("München Pläne", "M\u00fcnchen/pl\u00e4ne.md")}},
		{name: "decomposed name/both", guards: "of two names that differ in form one is lost", files: notes{"caf\u00e9.md": "keyword agouti\n", "cafe\u0301.md": "keyword capybara\n"},
			steps: []step{within(1, "agouti", "caf\u00e9.md"), answers("capybara"), command(0, "caf", "doctor", "--json")}},
		{name: "setext", guards: "underlined headings are text", files: notes{"s.md": "Marmoset care\n=============\n\nFeed twice a day.\n"}, steps: []step{first("marmoset", "s.md")}},
		{name: "setext/second level", guards: "an underline of hyphens opens front matter", files: notes{"s.md": "Uakari\n------\n\nLives in flooded woods.\n\nSaki\n----\n\nJumps far.\n"},
			steps: []step{first("uakari", "s.md"), first("who jumps far", "s.md")}},
		{name: "other endings", guards: "only .md in lower case is read", files: notes{"A.MD": "# Upper\nkeyword ocelot\n", "b.markdown": "# Long\nkeyword caracal\n", "c.txt": "keyword serval\n"},
			steps: []step{first("ocelot", "A.MD"), first("caracal", "b.markdown"), empty("serval")}},
		{name: "other endings/near misses", guards: "backups and folders that end like a note are read", files: notes{"a.Md": "keyword margay\n", "x.md~": "keyword kodkod\n", "x.md.bak": "keyword kodkod\n", "dir.md/inner.Markdown": "keyword oncilla\n", ".md": "keyword kodkod\n"},
			steps: []step{first("margay", "a.Md"), empty("kodkod"), first("oncilla", "dir.md/inner.Markdown")}},
		{name: "broken yaml", guards: "broken front matter drops the file, or is rewritten", files: notes{"x.md": "---\nsummary: a: b: [c\ntags: {\n---\n\nThe keyword is pangolin.\n"},
			steps: []step{first("pangolin", "x.md"), unchanged("x.md"), command(0, "x.md", "doctor", "--json")}},
		{name: "broken yaml/unclosed", guards: "front matter that never ends swallows the note", files: notes{"x.md": "---\nsummary: aardwolf\n\nThe keyword is fennec.\n"},
			steps: []step{first("fennec", "x.md"), unchanged("x.md")}},
		{name: "broken yaml/tabs", guards: "a tab or an alias bomb in front matter stops the index", files: notes{
			"x.md": "---\n\tsummary: tabs\n---\nThe keyword is zorilla.\n",
			"y.md": "---\na: &a [x,x,x,x,x,x,x,x,x]\nb: &b [*a,*a,*a,*a,*a,*a,*a,*a,*a]\nc: &c [*b,*b,*b,*b,*b,*b,*b,*b,*b]\nd: &d [*c,*c,*c,*c,*c,*c,*c,*c,*c]\ne: &e [*d,*d,*d,*d,*d,*d,*d,*d,*d]\nf: &f [*e,*e,*e,*e,*e,*e,*e,*e,*e]\ng: [*f,*f,*f,*f,*f,*f,*f,*f,*f]\n---\nThe keyword is linsang.\n",
		}, steps: []step{first("zorilla", "x.md"), first("linsang", "y.md"), command(0, "x.md", "doctor", "--json")}},
		{name: "broken yaml/wrong types", guards: "a list where a word belongs drops the file", files: notes{"x.md": "---\nsummary: [a, b]\ntags: 7\nstatus: {x: y}\nid: [1]\nconfidence: high\n---\nThe keyword is genet.\n"},
			steps: []step{first("genet", "x.md"), command(0, "x.md", "doctor", "--json")}},
		{name: "empty files", guards: "an empty file stops the index", files: notes{"e.md": "", "w.md": "  \n\t\n", "f.md": "---\n---\n", "k.md": "# Real\nkeyword okapi\n"},
			steps: []step{first("okapi", "k.md"), command(0, `"skipped":3`, "index", "--json")}},
		{name: "empty files/almost", guards: "files of marks alone are hits", files: notes{"a.md": "#\n", "b.md": "- \n- \n", "c.md": "\ufeff", "d.md": "---", "e.md": "```\n```\n", "k.md": "keyword bongo\n"},
			steps: []step{first("bongo", "k.md"), command(0, "", "check", "--json")}},
		{name: "huge line", guards: "one line of megabytes takes minutes", files: notes{"h.md": strings.Repeat("lorem ipsum ", 420_000), "k.md": "# Real\nkeyword tapir\n"},
			steps: []step{first("tapir", "k.md")}},
		{name: "huge line/one word", guards: "one word of megabytes takes minutes", files: notes{"h.md": strings.Repeat("ab", 1_500_000), "j.md": strings.Repeat("[", 200_000) + "\n", "k.md": "keyword anoa\n"},
			steps: []step{first("anoa", "k.md")}},
		{name: "huge line/deep lists", guards: "deep nesting overflows or takes minutes", files: notes{"h.md": strings.Repeat("> ", 5_000) + "keyword saiga\n", "j.md": strings.Repeat("- ", 3_000) + "keyword dibatag\n"},
			steps: []step{first("saiga", "h.md"), first("dibatag", "j.md")}},
		{name: "fence", guards: "headings inside a code fence cut it", files: notes{"f.md": "# Real heading\n\n```sh\n# not a heading\n---\necho numbat\n```\n\nAfter the fence: bandicoot.\n"},
			steps: []step{first("numbat", "f.md"), first("bandicoot", "f.md")}},
		{name: "fence/open", guards: "a fence that never closes swallows or drops the rest", files: notes{"f.md": "# Start\n\n~~~\n# potoroo\n```\nstill code: bettong\n"},
			steps: []step{first("potoroo", "f.md"), first("bettong", "f.md")}},
		{name: "fence/front matter inside", guards: "front matter shown in a fence is taken for the note's own", files: notes{"f.md": "# Template\n\n```yaml\n---\nstatus: retired\n---\n```\n\nkeyword cuscus\n"},
			steps: []step{first("cuscus", "f.md")}},
		{name: "names", guards: "names that look alike are taken for one", files: notes{"a b.md": "keyword quokka\n", "a_b.md": "keyword wombat\n", "README.md": "keyword dugong\n", "sub/readme.md": "keyword narwhal\n"},
			steps: []step{first("quokka", "a b.md"), first("wombat", "a_b.md"), first("dugong", "README.md"), first("narwhal", "sub/readme.md")}},
		{name: "names/marks", guards: "a name with quotes, marks or hashes breaks a query or a link", files: notes{"it's 100% #1 (copy) [x].md": "keyword vaquita\n", "-rf.md": "keyword baiji\n", "a&b;c.md": "keyword tucuxi\n"},
			steps: []step{first("vaquita", "it's 100% #1 (copy) [x].md"), first("baiji", "-rf.md"), first("tucuxi", "a&b;c.md")}},
		{name: "names/Chinese", guards: "a Chinese name is not found or not printed", files: notes{"项目/周报 2026.md": "关键词 是 穿山甲\n"}, steps: []step{first("穿山甲", "项目/周报 2026.md"), first("周报", "项目/周报 2026.md")}},
		{name: "names/case", guards: "two names that differ in case are one", files: notes{"Note.md": "keyword olm\n", "note.md": "keyword axolotl\n"}, steps: []step{first("olm", "Note.md"), first("axolotl", "note.md")}},
		{name: "deep text", guards: "only the head of a long note is indexed", files: notes{"long.md": strings.Repeat("filler sentence about nothing in particular. ", 2000) + "\n\n## The end\n\nThe vault door code is heliotrope.\n"},
			steps: []step{first("heliotrope", "long.md")}},
		{name: "deep text/without headings", guards: "a long note without headings is cut", files: notes{"long.md": strings.Repeat("这一段没有什么内容，只是占位。", 3000) + "最后的暗号是曼陀罗。\n"}, steps: []step{first("暗号 曼陀罗", "long.md")}},
		{name: "deep text/table", guards: "the last row of a long table is lost", files: notes{"t.md": "| key | value |\n| --- | --- |\n" + strings.Repeat("| filler | nothing |\n", 3000) + "| periwinkle | 17 |\n"}, steps: []step{first("periwinkle", "t.md")}},
		{name: "links", guards: "a link leads out of the vault or in a circle", files: notes{"out.md": link("/etc/hostname"), "loop": link("."), "k.md": "keyword manatee\n"},
			steps: []step{first("manatee", "k.md"), command(0, "", "index", "--json")}},
		{name: "links/dangling", guards: "a link to nothing or to itself stops the walk", files: notes{"gone.md": link("nowhere.md"), "self.md": link("self.md"), "up": link("../.."), "k.md": "keyword dugong\n"},
			steps: []step{first("dugong", "k.md"), command(0, "gone.md", "doctor", "--json"), command(0, "", "check")}},
		{name: "hidden folders", guards: "folders of tools are searched", files: notes{".git/x.md": "keyword gharial\n", ".obsidian/y.md": "keyword gharial\n", "node_modules/z.md": "keyword gharial\n"},
			steps: []step{empty("gharial")}},
		{name: "hidden folders/below", guards: "hidden folders further down and hidden files are searched", files: notes{"a/.trash/x.md": "keyword mugger\n", "b/node_modules/p/README.md": "keyword mugger\n", ".hidden.md": "keyword mugger\n", "a/node_modules.md": "keyword caiman\n"},
			steps: []step{absent("mugger", "a/.trash/x.md"), absent("mugger", "b/node_modules/p/README.md"), first("caiman", "a/node_modules.md")}},
		{name: "catalog", guards: "the catalog is a hit for everything that it lists", files: notes{"MEMORY.md": "# Memory\n- [tamarin](t.md) keyword tamarin\n", "t.md": "# T\nkeyword tamarin lives here\n"},
			steps: []step{first("tamarin", "t.md"), absent("tamarin", "MEMORY.md")}},
		{name: "catalog/wiki links", guards: "a catalog of wiki links is a hit", files: notes{"MEMORY.md": "# Memory\n\n* [[notes/t]] keyword pichi\n* [[notes/u|other]]: nothing\n", "notes/t.md": "keyword pichi lives here\n", "notes/u.md": "nothing\n"},
			steps: []step{first("pichi", "notes/t.md"), absent("pichi", "MEMORY.md")}},
		{name: "catalog/facts", guards: "a MEMORY.md that holds facts itself is not read", files: notes{"MEMORY.md": "# Memory\n\n- The user's cat is called Cacomistle.\n- The user hates olives.\n"},
			steps: []step{first("cacomistle", "MEMORY.md")}},
		{name: "foreign front matter", guards: "tags and aliases of Obsidian, names of Claude Code are not found", files: notes{
			"o.md": "---\ntags: animals, lemur\ndate: 2026-03-12\naliases: ring tail\n---\n\nBody text.\n",
			"c.md": "---\nname: indri-notes\ndescription: how the indri sings\nmetadata:\n  type: reference\n---\n\nBody text.\n",
		}, steps: []step{first("lemur", "o.md"), first("ring tail", "o.md"), first("indri", "c.md")}},
		{name: "foreign front matter/shapes", guards: "tags as a list, with hashes or in the body are not found", files: notes{
			"a.md": "---\ntags:\n  - '#animals/loris'\n  - night\n---\nBody text.\n",
			"b.md": "---\ntitle: Potto\nalias: [softly softly]\ntype: feedback\n---\nBody text.\n",
			"c.md": "A note about sleep. #galago\n",
		}, steps: []step{first("loris", "a.md"), first("softly", "b.md"), first("galago", "c.md"), first("potto", "b.md", "--category", "feedback")}},
		{name: "foreign front matter/toml", guards: "TOML or a comment before the text hides it", files: notes{"t.md": "+++\ntitle = \"Bees\"\n+++\n\nBody about honey.\n", "h.md": "<!-- a comment -->\n\n# Olinguito\nBody.\n"},
			steps: []step{first("honey", "t.md"), first("olinguito", "h.md")}},
	})
}
