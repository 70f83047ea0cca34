package main

import (
	"fmt"
	"testing"
)

// diary is a note for each of the first days of March 2026.
func diary() notes {
	out := notes{}
	for d := 1; d <= 28; d++ {
		day := fmt.Sprintf("2026-03-%02d", d)
		out["daily/"+day+".md"] = fmt.Sprintf("# %s\nWorked on the importer, part %d.\n", day, d)
	}
	return out
}

func march(d int) string { return fmt.Sprintf("daily/2026-03-%02d.md", d) }

func now(s string) []string { return []string{"--now", s} }

func TestTime(t *testing.T) {
	regions := notes{
		"old.md": "---\nid: mem_20250302090000_aaaaaa\ncategory: project\nsummary: Production runs in us-east-1\nstatus: superseded\nvalid_from: 2025-03-01\nvalid_to: 2026-11-01\nsuperseded_by: [mem_20261101090000_bbbbbb]\n---\n\nThe production cluster runs in region us-east-1.\n",
		"new.md": "---\nid: mem_20261101090000_bbbbbb\ncategory: project\nsummary: Production runs in eu-central-1\nstatus: active\nvalid_from: 2026-11-01\nsupersedes: [mem_20250302090000_aaaaaa]\n---\n\nThe production cluster runs in region eu-central-1.\n",
	}
	half := notes{ // a crash between the two files of a supersede
		"old.md": "---\nid: mem_a\ncreated_at: 2026-01-01\nsummary: The office is in Kiel\n---\nThe office is in Kiel.\n",
		"new.md": "---\nid: mem_b\ncreated_at: 2026-06-01\nsummary: The office is in Graz\nsupersedes: mem_a\n---\nThe office is in Graz.\n",
	}
	const region = "which region does the production cluster run in"
	runCases(t, []recallCase{
		{name: "supersede", guards: "an old fact is returned beside the new one", files: regions, steps: []step{
			first(region, "new.md", "--now", "2026-11-29"), absent(region, "old.md", "--now", "2026-11-29"),
			first(region, "old.md", "--now", "2026-11-29", "--as-of", "2026-01-15"), absent(region, "new.md", "--now", "2026-11-29", "--as-of", "2026-01-15")}},
		{name: "supersede/boundary", guards: "on the day of a change both or neither hold", files: regions, steps: []step{
			first(region, "old.md", "--now", "2026-11-29", "--as-of", "2026-10-31"), absent(region, "new.md", "--now", "2026-11-29", "--as-of", "2026-10-31"),
			first(region, "new.md", "--now", "2026-11-29", "--as-of", "2026-11-01"), absent(region, "old.md", "--now", "2026-11-29", "--as-of", "2026-11-01T00:00:00Z")}},
		{name: "supersede/half", guards: "a crash leaves two current facts", files: half, steps: []step{
			first("where is the office", "new.md", "--now", "2026-11-29"), absent("where is the office", "old.md", "--now", "2026-11-29"),
			first("where is the office", "old.md", "--now", "2026-11-29", "--as-of", "2026-03-01"), absent("where is the office", "new.md", "--now", "2026-11-29", "--as-of", "2026-03-01"),
			first("where is the office", "new.md", "--now", "2026-11-29", "--as-of", "2026-07-01"), absent("where is the office", "old.md", "--now", "2026-11-29", "--as-of", "2026-07-01")}},
		{name: "supersede/chain", guards: "of three versions the middle one returns", files: notes{
			"a.md": "---\nid: mem_a\nvalid_from: 2024-01-01\n---\nThe lead is Ines.\n",
			"b.md": "---\nid: mem_b\nvalid_from: 2025-01-01\nsupersedes: [mem_a]\n---\nThe lead is Bruno.\n",
			"c.md": "---\nid: mem_c\nvalid_from: 2026-01-01\nsupersedes: [mem_b]\n---\nThe lead is Chiara.\n",
		}, steps: []step{first("who is the lead", "c.md", now("2026-06-01")...), absent("who is the lead", "b.md", now("2026-06-01")...), absent("who is the lead", "a.md", now("2026-06-01")...),
			first("who is the lead", "b.md", "--now", "2026-06-01", "--as-of", "2025-06-01"), absent("who is the lead", "a.md", "--now", "2026-06-01", "--as-of", "2025-06-01")}},
		{name: "supersede/circle", guards: "memories that supersede one another all vanish", files: notes{
			"a.md": "---\nid: mem_a\nsupersedes: [mem_b]\n---\nkeyword ouroboros one\n", "b.md": "---\nid: mem_b\nsupersedes: [mem_a, mem_b]\n---\nkeyword ouroboros two\n"},
			steps: []step{within(2, "ouroboros", "a.md"), within(2, "ouroboros", "b.md"), command(0, "circle", "doctor", "--json")}},
		{name: "supersede/by candidate", guards: "a candidate already ends what it would replace", files: notes{
			"a.md": "---\nid: mem_a\n---\nThe bridge is blue.\n", "b.md": "---\nid: mem_b\nstatus: candidate\nsupersedes: [mem_a]\n---\nThe bridge is red.\n"},
			steps: []step{first("colour of the bridge", "a.md"), absent("colour of the bridge", "b.md")}},
		{name: "expiry", guards: "a fact is returned outside its span", files: notes{"p.md": "---\nsummary: VPN code for the fair is wallaby\nvalid_from: 2026-05-01\nvalid_to: 2026-05-08\n---\n\nThe VPN code is wallaby.\n"}, steps: []step{
			absent("wallaby", "p.md", now("2026-06-01")...), first("wallaby", "p.md", "--now", "2026-06-01", "--as-of", "2026-05-03"), absent("wallaby", "p.md", now("2026-04-01")...)}},
		{name: "expiry/last day", guards: "valid_to is read as included", files: notes{"p.md": "---\nvalid_from: 2026-05-01\nvalid_to: 2026-05-08\n---\nThe VPN code is wallaby.\n"}, steps: []step{
			first("wallaby", "p.md", now("2026-05-07T23:59:00Z")...), absent("wallaby", "p.md", now("2026-05-08T00:00:00Z")...), first("wallaby", "p.md", now("2026-05-01T00:00:00Z")...)}},
		{name: "expiry/instant", guards: "a time of day is cut to its date", files: notes{"p.md": "---\nvalid_to: 2026-05-08T12:00:00+02:00\n---\nThe door code is wallaroo.\n"}, steps: []step{
			first("wallaroo", "p.md", now("2026-05-08T09:59:00Z")...), absent("wallaroo", "p.md", now("2026-05-08T10:00:00Z")...)}},
		{name: "expiry/open", guards: "a fact without an end ends, one without a beginning does not hold", files: notes{"p.md": "---\nvalid_from: 2026-05-01\nvalid_to:\n---\nThe badge is euro.\n", "q.md": "---\nvalid_to: 2027-01-01\n---\nThe locker is potoroo.\n"}, steps: []step{
			first("badge", "p.md", now("2040-01-01")...), first("locker", "q.md", now("1990-01-01")...), absent("badge", "p.md", now("2026-04-30")...)}},
		{name: "candidate", guards: "a memory that nobody confirmed is a fact", files: notes{"s.md": "---\nsummary: keyword bilby\nstatus: candidate\n---\n\nThe keyword is bilby.\n"}, steps: []step{empty("bilby")}},
		{name: "rejected", guards: "a rejected memory is a fact", files: notes{"s.md": "---\nsummary: keyword bilby\nstatus: rejected\n---\n\nThe keyword is bilby.\n"}, steps: []step{empty("bilby")}},
		{name: "retired", guards: "a retired memory is a fact", files: notes{"s.md": "---\nstatus: retired\nvalid_from: 2026-01-01\nvalid_to: 2026-02-01\n---\nThe keyword is bilby.\n"}, steps: []step{
			empty("bilby"), first("bilby", "s.md", "--as-of", "2026-01-15"), empty("bilby", "--as-of", "2026-02-15")}},
		{name: "status in other letters", guards: "Status: Retired is active", files: notes{"s.md": "---\nstatus: Retired\n---\nThe keyword is bilby.\n", "c.md": "---\nstatus: \" candidate \"\n---\nThe keyword is chuditch.\n"}, steps: []step{empty("bilby"), empty("chuditch")}},
		{name: "candidate at a time", guards: "as-of brings candidates and rejected memories back", files: notes{
			"s.md": "---\nstatus: candidate\nvalid_from: 2026-01-01\n---\nThe keyword is bilby.\n", "r.md": "---\nstatus: rejected\nvalid_from: 2026-01-01\nvalid_to: 2026-12-01\n---\nThe keyword is bilby.\n"},
			steps: []step{empty("bilby", "--as-of", "2026-06-01")}},
		{name: "date/English", guards: "a date in words is not understood", files: diary(), steps: []step{
			first("what did I do on 12 March 2026", march(12), now("2026-11-29")...), first("what happened on March 5th, 2026?", march(5), now("2026-11-29")...)}},
		{name: "date/English/forms", guards: "only one way to write a date is understood", files: diary(), steps: []step{
			first("what did I do on 2026-03-17", march(17), now("2026-11-29")...), first("notes of the 9th of March 2026", march(9), now("2026-11-29")...),
			first("importer, Mar 21 2026", march(21), now("2026-11-29")...), first("what was done on 2026/03/03", march(3), now("2026-11-29")...)}},
		{name: "date/Chinese", guards: "a Chinese date is not understood", files: diary(), steps: []step{
			first("2026年3月12日做了什么", march(12), now("2026-11-29")...), first("3月5号我做了什么", march(5), now("2026-03-29")...)}},
		{name: "date/Chinese/forms", guards: "a date in Chinese numerals is not understood", files: diary(), steps: []step{
			first("二〇二六年三月十八日的工作", march(18), now("2026-11-29")...), first("三月二十一号干了什么", march(21), now("2026-03-29")...), first("今年3月7日的记录", march(7), now("2026-11-29")...)}},
		{name: "date/relative", guards: "relative dates are not understood", files: diary(), steps: []step{
			first("what did I work on yesterday", march(12), now("2026-03-13T10:00:00Z")...), first("three days ago", march(12), now("2026-03-15T10:00:00Z")...), first("昨天做了什么", march(5), now("2026-03-06T10:00:00Z")...)}},
		{name: "date/relative/forms", guards: "weekdays, weeks and Chinese relative dates are not understood", files: diary(), steps: []step{
			first("what did I do the day before yesterday", march(11), now("2026-03-13T10:00:00Z")...),
			first("what happened last Friday", march(6), now("2026-03-11T10:00:00Z")...), // 2026-03-06 is a Friday
			first("前天做了什么", march(4), now("2026-03-06T10:00:00Z")...), first("三天前的工作", march(10), now("2026-03-13T10:00:00Z")...),
			first("上周五干了什么", march(6), now("2026-03-11T10:00:00Z")...), first("a week ago", march(8), now("2026-03-15T10:00:00Z")...)}},
		{name: "date/span", guards: "since and until do not bound when a thing happened", files: diary(), steps: []step{
			absent("importer", march(9), "--now", "2026-11-29", "--since", "2026-03-10", "-k", "50"), within(50, "importer", march(10), "--now", "2026-11-29", "--since", "2026-03-10", "-k", "50"),
			within(50, "importer", march(10), "--now", "2026-11-29", "--until", "2026-03-10", "-k", "50"), absent("importer", march(11), "--now", "2026-11-29", "--until", "2026-03-10", "-k", "50"),
			first("importer", march(14), "--now", "2026-11-29", "--since", "2026-03-14", "--until", "2026-03-14"), exits(exitUsage, "importer", "--since", "soon")}},
		{name: "date/coarse span", guards: "until a week, month, quarter or year is until its second day", files: diary(), steps: []step{
			within(50, "importer", march(8), "--now", "2026-11-29", "--until", "2026-W10", "-k", "50"), absent("importer", march(9), "--now", "2026-11-29", "--until", "2026-W10", "-k", "50"), // March 2nd to 8th
			within(50, "importer", march(28), "--now", "2026-11-29", "--until", "2026-03", "-k", "50"), absent("importer", march(1), "--now", "2026-11-29", "--until", "2026-02", "-k", "50"),
			within(50, "importer", march(28), "--now", "2026-11-29", "--until", "2026-Q1", "-k", "50"), within(50, "importer", march(28), "--now", "2026-11-29", "--until", "2026", "-k", "50")}},
		{name: "date/of a section", guards: "entries of one log share one date", files: notes{"log.md": "# Log\n\n## 2026-03-02\n\nMoved the greenhouse.\n\n## 2026-03-09\n\nPainted the greenhouse.\n"}, steps: []step{
			result(wantLine(1, 5), "what happened on March 2 2026", now("2026-11-29")...), result(wantLine(7, 9), "2026年3月9日发生了什么", now("2026-11-29")...)}},
		{name: "impossible date", guards: "an impossible date drops the file", files: notes{"d.md": "---\nsummary: keyword dingo\nvalid_from: 2026-02-30\nvalid_to: soon\n---\n\nThe keyword is dingo.\n"},
			steps: []step{first("dingo", "d.md"), command(0, "d.md", "doctor", "--json")}},
		{name: "impossible date/others", guards: "month 13, an end before its beginning or a far year drops the file", files: notes{
			"a.md": "---\ncreated_at: 2026-13-45\ndate: yesterday-ish\n---\nThe keyword is dhole.\n", "b.md": "---\nvalid_from: 2026-05-08\nvalid_to: 2026-05-01\n---\nThe keyword is culpeo.\n", "2026-02-31.md": "The keyword is tanuki.\n"},
			steps: []step{first("dhole", "a.md"), first("tanuki", "2026-02-31.md"), command(0, "a.md", "doctor", "--json"), command(0, "b.md", "doctor", "--json"), answers("what happened on 31 February 2026"), answers("2026年13月40日")}},
	})
}
