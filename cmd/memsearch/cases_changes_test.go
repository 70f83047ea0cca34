package main

import "testing"

func dropIndex(t *testing.T, v *testVault) { remove(".memsearch")(t, v) }

func TestChanges(t *testing.T) {
	runCases(t, []recallCase{
		{name: "delete", guards: "a deleted note is returned", files: notes{"x.md": "keyword sifaka\n"},
			steps: []step{first("sifaka", "x.md"), remove("x.md"), empty("sifaka")}},
		{name: "delete/folder", guards: "notes of a deleted folder are returned", files: notes{"d/e/x.md": "keyword sifaka\n", "d/y.md": "keyword potto\n"},
			steps: []step{first("sifaka", "d/e/x.md"), remove("d"), empty("sifaka"), empty("potto"), command(0, "", "check")}},
		{name: "delete/last", guards: "the last note of a vault cannot go", bare: true, files: notes{"x.md": "keyword sifaka\n"},
			steps: []step{first("sifaka", "x.md"), remove("x.md"), empty("sifaka"), rewrite(notes{"y.md": "keyword sifaka again\n"}), first("sifaka", "y.md")}},
		{name: "edit", guards: "a note is returned as it was", files: notes{"x.md": "The code is sifaka.\n"},
			steps: []step{first("sifaka", "x.md"), rewrite(notes{"x.md": "The code is potto.\n"}), first("potto", "x.md"), absent("sifaka", "x.md")}},
		{name: "edit/same size and time", guards: "an edit that keeps size and time is not seen", files: notes{"x.md": "The code is sifaka.\n"},
			steps: []step{first("sifaka", "x.md"), rewriteKeepingTime("x.md", "The code is indris.\n"), first("indris", "x.md"), absent("sifaka", "x.md")}},
		{name: "edit/at once", guards: "an edit right after indexing is not seen", files: notes{"x.md": "The code is aaaaaq.\n"},
			steps: []step{command(0, "", "index"), rewrite(notes{"x.md": "The code is bbbbbq.\n"}), first("bbbbbq", "x.md"), rewrite(notes{"x.md": "The code is cccccq.\n"}), first("cccccq", "x.md"), absent("bbbbbq", "x.md")}},
		{name: "edit/front matter", guards: "an edit of the front matter alone is not seen", files: notes{"x.md": "---\nstatus: active\n---\nThe code is avahi.\n"},
			steps: []step{first("avahi", "x.md"), rewrite(notes{"x.md": "---\nstatus: retired\n---\nThe code is avahi.\n"}), empty("avahi")}},
		{name: "edit/note becomes folder", guards: "a file that became a folder stays in the index", files: notes{"x.md": "keyword avahi\n"},
			steps: []step{first("avahi", "x.md"), remove("x.md"), rewrite(notes{"x.md/in.md": "keyword lepilemur\n"}), empty("avahi"), first("lepilemur", "x.md/in.md")}},
		{name: "rename", guards: "a renamed note is returned twice or not at all", files: notes{"x.md": "keyword galago\n"},
			steps: []step{first("galago", "x.md"), rename("x.md", "y/z.md"), first("galago", "y/z.md"), absent("galago", "x.md")}},
		{name: "rename/swap", guards: "two notes that changed names keep each other's text", files: notes{"a.md": "keyword galago\n", "b.md": "keyword angwantibo\n"},
			steps: []step{first("galago", "a.md"), rename("a.md", "t.md"), rename("b.md", "a.md"), rename("t.md", "b.md"), first("galago", "b.md"), first("angwantibo", "a.md"), command(0, "", "check")}},
		{name: "rename/case", guards: "a name that changed only in case is lost", files: notes{"Note.md": "keyword galago\n"},
			steps: []step{first("galago", "Note.md"), rename("Note.md", "note.md"), first("galago", "note.md")}},
		{name: "lost index", guards: "a deleted index is not made again", files: notes{"x.md": "keyword aye-aye\n"},
			steps: []step{first("aye-aye", "x.md"), dropIndex, first("aye-aye", "x.md")}},
		{name: "lost index/part", guards: "an index that lacks a file is trusted", files: notes{"x.md": "keyword aye-aye\n"},
			steps: []step{first("aye-aye", "x.md"), remove(".memsearch/CURRENT"), first("aye-aye", "x.md"), removeIndexed("vectors.bin"), first("aye-aye", "x.md"),
				removeIndexed("validity.db"), first("aye-aye", "x.md"), removeIndexed("manifest.json"), first("aye-aye", "x.md"), command(0, "", "index"), command(0, "", "check")}},
		{name: "damaged index", guards: "a damaged index is read, or never healed", files: notes{"x.md": "keyword aye-aye\n"},
			steps: []step{first("aye-aye", "x.md"), damageIndex, first("aye-aye", "x.md"), first("kettle", "office/kettle.md"), command(0, "", "check")}},
		{name: "damaged index/twice", guards: "a healed index is damaged by the next edit", files: notes{"x.md": "keyword aye-aye\n"},
			steps: []step{command(0, "", "index"), damageIndex, rewrite(notes{"y.md": "keyword hapalemur\n"}), first("hapalemur", "y.md"), first("aye-aye", "x.md"), damageIndex,
				remove("x.md"), absent("aye-aye", "x.md"), first("hapalemur", "y.md"), command(0, "", "index"), command(0, "", "check")}},
		{name: "damaged index/by hand", guards: "files of others in the index folder are an error", files: notes{"x.md": "keyword aye-aye\n"},
			steps: []step{first("aye-aye", "x.md"), rewrite(notes{".memsearch/CURRENT": "gen-999999\n", ".memsearch/junk.md": "keyword gharial\n"}), first("aye-aye", "x.md"), empty("gharial"),
				rewrite(notes{".memsearch/CURRENT": "../../etc\n"}), first("aye-aye", "x.md")}},
	})
}
