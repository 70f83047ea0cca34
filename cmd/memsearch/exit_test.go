package main

import (
	"bytes"
	"strings"
	"testing"
)

// TestErrorsArePrintable guards against a terminal that obeys what stands in an id
// or a path.
func TestErrorsArePrintable(t *testing.T) {
	v := newVault(t, notes{"x.md": "keyword limpkin\n"})
	const bad = "\x1b[31mx\u202e\a"
	for _, args := range [][]string{
		{"show", bad}, {"forget", bad}, {"retire", bad}, {"remember", "--category", bad, "x"}, {"remember", "--scope", bad, "x"},
		{"recall", "--since", bad, "x"}, {bad}, {"recall", "--" + bad},
	} {
		var out, errs bytes.Buffer
		code := run(append(args, "--vault", v.dir), strings.NewReader(""), &out, &errs)
		if code == exitOK || strings.ContainsAny(errs.String(), bad[:1]+"\a\u202e") || !strings.Contains(errs.String(), "memsearch: error: ") {
			t.Errorf("%q: exit %d, %q", args, code, errs.String())
		}
	}
	var errs bytes.Buffer
	if code := run([]string{"show", "x", "--vault", v.dir + bad}, nil, &bytes.Buffer{}, &errs); code != exitFailure || strings.ContainsAny(errs.String(), "\x1b\a\u202e") {
		t.Errorf("a folder: exit %d, %q", code, errs.String())
	}
}
