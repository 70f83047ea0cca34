package main

import (
	"strings"
	"testing"
)

func TestIdentifiers(t *testing.T) {
	runCases(t, []recallCase{
		{name: "hyphen", guards: "an id is torn at its hyphen and every id of the series matches", files: notes{
			"dec.md":  "# DEC-0054 queue choice\nWe picked a log over a broker.\n",
			"dec2.md": "# DEC-0055 cache choice\nWe picked an LRU.\n",
			"dec3.md": "# DEC-0154 naming\nPlural nouns.\n",
		}, steps: []step{first("DEC-0054", "dec.md"), within(3, "dec0054", "dec.md")}},
		{name: "hyphen/ticket", guards: "the number of one ticket finds its neighbours", files: notes{
			"a.md": "# OPS-17 pager is silent\nThe gateway lost its SIM.\n",
			"b.md": "# OPS-170 pager is loud\nVolume was at ten.\n",
			"c.md": "# NET-17 cable\nA ship cut it.\n",
		}, steps: []step{first("OPS-17", "a.md"), first("ops17", "a.md"), first("what was NET-17 about", "c.md")}},
		{name: "hyphen/standard", guards: "a number with blanks and hyphens is not found in its other spellings", files: notes{
			"a.md": "# Dates\nWe write them as ISO-8601 has it.\n",
			"b.md": "# Audit\nISO-27001 is due in May.\n",
		}, steps: []step{first("ISO-8601", "a.md"), first("iso8601", "a.md"), first("ISO 27001", "b.md")}},
		{name: "digits", guards: "a CVE number matches another that shares its year", files: notes{
			"a.md": "# Patch log\nCVE-2024-31497 affects the ssh agent we ship.\n",
			"b.md": "# Patch log\nCVE-2024-3094 was in xz, we were not hit.\n",
		}, steps: []step{first("CVE-2024-31497", "a.md"), first("are we hit by CVE-2024-3094?", "b.md")}},
		{name: "digits/error code", guards: "an error code is drowned by the words around it", files: notes{
			"a.md": "# Sync errors\nE4042 means that the clock of the device is off.\n",
			"b.md": "# Sync errors\nE4043 means that the device is unknown. What does an error mean? Ask support.\n",
		}, steps: []step{first("E4042", "a.md"), first("what does the error E4042 mean", "a.md")}},
		{name: "digits/hash", guards: "a commit is not found by its short hash", files: notes{
			"a.md": "# Bisect\nThe first bad commit is 9f3c1ab77e02d4416b8a.\n",
			"b.md": "# Bisect\nThe last good commit is 9f3d00c4517aa2019bce.\n",
		}, steps: []step{first("9f3c1ab", "a.md"), first("9f3c1ab77e02d4416b8a", "a.md"), first("commit 9f3d00c4", "b.md")}},
		{name: "camel case", guards: "the parts of a camelCase name are not found", files: notes{
			"p.md": "# Parser\n`parseHTTPResponse` drops trailing headers.\n",
			"r.md": "# Response times\nThe response was slow on Monday.\n",
		}, steps: []step{first("HTTPResponse", "p.md"), within(3, "parse_http_response", "p.md")}},
		{name: "camel case/snake", guards: "a name in snake_case is not found as it is spelt in another language", files: notes{
			"a.md": "# Settings\n`max_retry_count` is three.\n",
			"b.md": "# Retries\nWe retry at most as often as the count says.\n",
		}, steps: []step{first("maxRetryCount", "a.md"), first("max_retry_count", "a.md"), within(3, "MAX_RETRY_COUNT", "a.md")}},
		{name: "camel case/acronym", guards: "an acronym inside a name is cut in its middle", files: notes{
			"a.md": "# Ids\n`newUUIDv7` sorts by time.\n",
			"b.md": "# Sorting\nSort the rows by time first.\n",
		}, steps: []step{first("newUUIDv7", "a.md"), within(3, "uuid", "a.md")}},
		{name: "path and line", guards: "a path with a line number finds nothing", files: notes{
			"t.md": "# Token expiry\nThe bug is in src/auth/token.go:42, an off-by-one on the expiry.\n",
			"u.md": "# Auth overview\nTokens live for one hour.\n",
		}, steps: []step{first("src/auth/token.go:42", "t.md"), first("auth/token.go", "t.md")}},
		{name: "path and line/windows", guards: "a path with backslashes finds nothing", files: notes{
			"a.md": "# Installer\nLogs go to C:\\ProgramData\\Acme\\setup.log on failure.\n",
			"b.md": "# Logs\nThe program writes data to logs.\n",
		}, steps: []step{first(`C:\ProgramData\Acme\setup.log`, "a.md"), first("setup.log", "a.md")}},
		{name: "path and line/url", guards: "an address is not found with or without its scheme", files: notes{
			"a.md": "# Dashboards\nSee https://grafana.example.org/d/abc123/latency for latency.\n",
			"b.md": "# Examples\nAn example of a dashboard for latency stands in the org wiki.\n",
		}, steps: []step{first("grafana.example.org/d/abc123", "a.md"), first("https://grafana.example.org/d/abc123/latency", "a.md")}},
		{name: "e-mail", guards: "an address matches every note that says example", files: notes{
			"c.md": "# Contacts\nBilling questions go to user@example.com only.\n",
			"d.md": "# Example users\nThe example user list is in the wiki.\n",
		}, steps: []step{first("user@example.com", "c.md")}},
		{name: "e-mail/plus", guards: "an address with a plus sign is read as an operator", files: notes{
			"a.md": "# Alerts\nThey are sent to ops+alerts@corp.test each hour.\n",
			"b.md": "# Ops\nThe ops people look at alerts of the corp each hour.\n",
		}, steps: []step{first("ops+alerts@corp.test", "a.md")}},
		{name: "e-mail/handle", guards: "a handle with an @ finds nothing", files: notes{
			"a.md": "# Reviewers\nAsk @mira-k for the billing code.\n",
			"b.md": "# Billing\nThe code for billing is reviewed twice.\n",
		}, steps: []step{first("@mira-k", "a.md"), first("mira-k", "a.md")}},
		{name: "operators in names", guards: "std::vector is read as a search field", files: notes{
			"v.md": "# Containers\nPrefer std::vector over std::list for scans.\n",
			"w.md": "# Vector search\nThe vector index holds a list of rows.\n",
			"k.md": "# Fusion\nWe use k=60 in the fusion formula.\n",
		}, steps: []step{first("std::vector", "v.md"), first("k=60", "k.md")}},
		{name: "operators in names/languages", guards: "C++ and C# are both c", files: notes{
			"a.md": "# Client\nThe desktop client is written in C++.\n",
			"b.md": "# Client\nThe phone client is written in C#.\n",
			"c.md": "# Client\nThe watch client is written in C.\n",
		}, steps: []step{first("C++", "a.md"), first("which client is in C#", "b.md")}},
		{name: "operators in names/flags", guards: "a command line flag is read as a negation", files: notes{
			"a.md": "# Builds\nPass --no-cache when the base image moved.\n",
			"b.md": "# Cache\nThere is no cache in front of the base image.\n",
		}, steps: []step{first("--no-cache", "a.md"), first("what does --no-cache do for builds", "a.md")}},
		{name: "version", guards: "a version is three numbers", files: notes{
			"a.md": "# Upgrade\nWe pinned bleve at v2.6.3 because of a merge bug.\n",
			"b.md": "# Upgrade\nWe pinned bolt at v1.4.0.\n",
		}, steps: []step{first("v2.6.3", "a.md"), first("2.6.3", "a.md")}},
		{name: "version/release candidate", guards: "the suffix of a version is lost", files: notes{
			"a.md": "# Rollout\nThe fleet runs 4.2.0-rc.1 since noon.\n",
			"b.md": "# Rollout\nThe fleet ran 4.1.9 before.\n",
		}, steps: []step{first("4.2.0-rc.1", "a.md"), first("v4.1.9", "b.md")}},
		{name: "version/address", guards: "an IP address matches one that shares three numbers", files: notes{
			"a.md": "# Hosts\nThe printer is 10.0.3.17.\n",
			"b.md": "# Hosts\nThe scanner is 10.0.3.71.\n",
		}, steps: []step{first("10.0.3.17", "a.md"), first("who is 10.0.3.71", "b.md")}},
	})
}

func TestQueryText(t *testing.T) {
	budget := notes{"b.md": "# Budget\nThe budget for this quarter is roughly 40k.\n"}
	rollback := notes{"rb.md": "# Rollback\nTo undo a bad release run `deployctl revert` and tell the channel.\n\nA failed deploy is rolled back by the on-call engineer.\n"}
	launch := notes{"l.md": "# Launch\nThe launch code is osprey.\n"}
	runCases(t, []recallCase{
		{name: "punctuation", guards: "punctuation sticks to words", files: budget, steps: []step{first("what's the budget, roughly?", "b.md")}},
		{name: "punctuation/quotes", guards: "typographic quotes and dashes stick to words", files: budget,
			steps: []step{first("“budget” — roughly…", "b.md"), first("(budget)!!!", "b.md")}},
		{name: "syntax", guards: "a query is parsed as a search language and fails", files: notes{"m.md": "# Memory safety\nThe memory:safe flag is on, title:case is off.\n"},
			steps: []step{answers(`"unclosed quote memory`), answers("foo AND"), answers("NOT memory"), answers("(memory"), first("memory:safe", "m.md"),
				answers("+memory -noise ~ ^2 *"), answers(`\`), answers("/.*/"), answers("{}[]<>|&")}},
		{name: "syntax/other languages", guards: "SQL, globs and templates are run or fail", files: notes{"m.md": "# Flags\nThe flag is called quetzal.\n"},
			steps: []step{answers("'; DROP TABLE units; --"), answers("quetzal* OR 1=1"), answers("$(quetzal) `id` ${HOME}"), answers("%s%n%d quetzal"),
				first("title:quetzal", "m.md"), first("quetzal^3", "m.md"), first("-quetzal", "m.md"), first("NEAR(quetzal flag, 3)", "m.md")}},
		{name: "nothing asked", guards: "an empty query returns everything", steps: []step{exits(exitUsage, ""), exits(exitUsage, "   ")}},
		{name: "nothing asked/white space", guards: "white space counts as words", steps: []step{exits(exitUsage, "\t\n"), exits(exitUsage, "　\u00a0")}},
		{name: "nothing to search for", guards: "marks alone are an error", steps: []step{answers("?!"), exits(exitUsage, "\u200b")}},
		{name: "question", guards: "one missing word empties the answer", files: rollback, steps: []step{first("how do I roll back a failed deploy", "rb.md"),
			within(3, "what should I do when a deploy has failed on a Friday evening and nobody from the platform group answers", "rb.md")}},
		{name: "question/filler", guards: "words of politeness count as much as those asked for", files: rollback,
			steps: []step{first("hey, could you please tell me again which command it was to undo a release? thanks a lot", "rb.md")}},
		{name: "question/Chinese", guards: "a long Chinese question needs every character", files: notes{"z.md": "# 回滚\n发布失败时由值班工程师执行回滚命令。\n", "y.md": "# 值班\n值班表每周一更新。\n"},
			steps: []step{first("请问一下如果周五晚上发布失败了应该怎么回滚呢", "z.md")}},
		{name: "typo", guards: "a misspelt rare word finds nothing", files: notes{"l.md": "# Launch checklist\nFreeze, tag, announce.\n"},
			steps: []step{first("lauch checklist", "l.md"), within(3, "lauch", "l.md")}},
		{name: "typo/swap", guards: "two letters swapped are two faults", files: notes{"l.md": "# Postgres\nThe primary is promoted by hand.\n"},
			steps: []step{within(3, "postgers", "l.md"), first("promotd primary", "l.md")}},
		{name: "typo/doubled", guards: "a doubled letter finds nothing", files: notes{"l.md": "# Accommodation\nBook it through the portal.\n"},
			steps: []step{within(3, "acommodation", "l.md"), within(3, "portall", "l.md")}},
		{name: "apostrophe", guards: "dont is not don't", files: notes{"d.md": "# Rules\nDon't force-push to main.\n"}, steps: []step{first("dont force push", "d.md")}},
		{name: "apostrophe/typographic", guards: "a curly apostrophe makes another word", files: notes{"d.md": "# Rules\nWe can’t ship on Mara’s birthday.\n"},
			steps: []step{first("Mara's birthday", "d.md"), first("cant ship", "d.md")}},
		{name: "width", guards: "full-width letters are other letters", files: notes{"h.md": "# Protocols\nHTTP2 is on for the edge.\n"}, steps: []step{first("ＨＴＴＰ２", "h.md")}},
		{name: "width/in the note", guards: "full-width letters of a note are not found by plain ones", files: notes{"h.md": "# 协议\n边缘节点启用了ＱＵＩＣ。\n"},
			steps: []step{first("QUIC", "h.md"), first("quic", "h.md")}},
		{name: "long query", guards: "a very long query fails or times out", files: launch, steps: []step{within(5, "osprey "+strings.Repeat("lorem ipsum dolor ", 400), "l.md")}},
		{name: "long query/at the end", guards: "only the head of a long query is read", files: launch,
			steps: []step{within(5, strings.Repeat("lorem ipsum dolor ", 400)+"osprey", "l.md")}},
		{name: "long query/one word", guards: "one word of a hundred thousand letters fails", files: launch, steps: []step{answers(strings.Repeat("x", 100_000)), within(5, "osprey "+strings.Repeat("ab", 20_000), "l.md")}},
		{name: "control characters", guards: "invisible characters stick to a word", files: launch, steps: []step{first("osprey\u0001\u200b\u202e", "l.md")}},
		{name: "control characters/inside", guards: "a soft hyphen or an escape breaks a word", files: launch,
			steps: []step{first("os\u00adprey", "l.md"), first("\ufeffosprey", "l.md")}},
		{name: "emoji", guards: "an emoji is no word", files: notes{"r.md": "# Ship it 🚀\nReleases get this mark.\n", "🐘.md": "# Elephant\nPostgres notes.\n"},
			steps: []step{first("🚀", "r.md"), first("postgres", "🐘.md")}},
		{name: "emoji/joined", guards: "an emoji of several characters is torn", files: notes{"a.md": "# Family 👩‍👩‍👧\nThe visit is in May.\n", "b.md": "# Thumbs 👍🏽\nThe vote passed.\n"},
			steps: []step{first("👩‍👩‍👧", "a.md"), first("👍🏽", "b.md"), first("👍", "b.md")}},
		{name: "emoji/file name", guards: "an emoji in the name of a file is not found", files: notes{"🦔.md": "# Hedgehog\nSleeps in the shed.\n"}, steps: []step{first("hedgehog", "🦔.md"), first("🦔", "🦔.md")}},
		{name: "nothing relevant", guards: "something is always returned", steps: []step{empty("zzqxv vorpalblade")}},
		{name: "nothing relevant/other scripts", guards: "unknown words of another script return anything", steps: []step{empty("фываолдж"), empty("qqwxzj 9f8e7d6c5b4a")}},
		{name: "one note", guards: "statistics of one note divide by zero", bare: true, files: notes{"only.md": "# Only\nThe wifi password is printed on the router.\n"}, steps: []step{first("wifi password", "only.md")}},
		{name: "one note/nothing", guards: "an empty vault is an error", bare: true, steps: []step{empty("anything")}},
		{name: "one note/asked otherwise", guards: "the only note answers everything", bare: true, files: notes{"only.md": "# Only\nThe wifi password is printed on the router.\n"}, steps: []step{empty("vorpalblade zzqxv")}},
		{name: "large k", guards: "more asked than there is fails", bare: true, files: notes{"only.md": "# Only\nThe printer is on floor three.\n"}, steps: []step{first("printer", "only.md", "-k", "500")}},
		{name: "large k/huge", guards: "a huge k is allocated", bare: true, files: notes{"only.md": "# Only\nThe printer is on floor three.\n"},
			steps: []step{first("printer", "only.md", "-k", "1000000000"), exits(exitUsage, "printer", "-k", "0"), exits(exitUsage, "printer", "-k", "-1")}},
	})
}
