//go:build unix

package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/gofrs/flock"

	"github.com/memsearch/memsearch"
)

// program returns a command that runs memsearch as another process.
func program(t *testing.T, env []string, args ...string) *exec.Cmd {
	t.Helper()
	c := exec.CommandContext(t.Context(), "memsearch", args...)
	c.Env = append([]string{"HOME=/no-such-home", "PATH=" + os.Getenv("PATH"), "GOCOVERDIR=" + coverDir(t)}, env...)
	return c
}

// finish waits for a command and returns its exit code and standard error.
func finish(t *testing.T, c *exec.Cmd) (int, string) {
	t.Helper()
	var errs bytes.Buffer
	c.Stderr = &errs
	err := c.Run()
	if _, ended := errors.AsType[*exec.ExitError](err); err != nil && !ended {
		t.Fatal(err)
	}
	if strings.Contains(errs.String(), "goroutine ") {
		t.Fatalf("it crashed: %s", errs.String())
	}
	return c.ProcessState.ExitCode(), errs.String()
}

// TestBusy guards against a writer that waits for ever, and a reader that waits at
// all.
func TestBusy(t *testing.T) {
	v := newVault(t, notes{"x.md": "keyword limpkin\n"})
	if code, _, errs := v.run("index"); code != exitOK {
		t.Fatal(errs)
	}
	if code, _, errs := v.run("remember", "one"); code != exitOK {
		t.Fatal(errs)
	}
	for _, lock := range []string{".memsearch/lock", ".memsearch-journal/lock"} {
		held := flock.New(v.path(lock))
		if ok, err := held.TryLock(); !ok || err != nil {
			t.Fatalf("lock %s: %v %v", lock, ok, err)
		}
		defer held.Close()
	}
	v.write(t, notes{"y.md": "keyword sunbittern\n"})
	env := []string{"MEMSEARCH_LOCK_WAIT=50ms"}
	for _, args := range [][]string{{"index"}, {"remember", "two"}} {
		code, errs := finish(t, program(t, env, append(args, "--vault", v.dir)...))
		if code != exitBusy || !strings.Contains(errs, "hint: another memsearch is writing") {
			t.Errorf("%v exits with %d: %s; want %d", args, code, errs, exitBusy)
		}
	}
	code, res := v.recall(t, "limpkin")
	if code != exitOK || res.Status != memsearch.StateDegraded || len(res.Hits) == 0 || len(res.Reasons) == 0 {
		t.Errorf("recall while another indexes: exit %d, %s %v, hits %v", code, res.Status, res.Reasons, paths(res))
	}
	if code, _ := v.recall(t, "limpkin", "--strict"); code != exitDegraded {
		t.Errorf("recall --strict exits with %d, want %d", code, exitDegraded)
	}
}

// TestInterrupt guards against commands that go on after Ctrl-C, or that end like
// a failure.
func TestInterrupt(t *testing.T) {
	v := newVault(t, notes{"x.md": "keyword limpkin\n"})
	for _, args := range [][]string{{"remember", "-"}, {"recall", "--batch", "-"}} {
		c := program(t, nil, append(args, "--vault", v.dir)...)
		in, err := c.StdinPipe()
		if err != nil {
			t.Fatal(err)
		}
		defer in.Close()
		out, err := c.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		var errs bytes.Buffer
		c.Stderr = &errs
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
		if args[0] == "recall" { // it runs when it answers
			if _, err := io.WriteString(in, `{"text": "limpkin"}`+"\n"); err != nil {
				t.Fatal(err)
			}
			if _, err := out.Read(make([]byte, 1)); err != nil {
				t.Fatalf("%v gives no answer: %v %s", args, err, errs.String())
			}
		} else {
			time.Sleep(300 * time.Millisecond) // until it reads; too early is another way to be interrupted
		}
		if err := c.Process.Signal(os.Interrupt); err != nil {
			t.Fatal(err)
		}
		io.Copy(io.Discard, out)
		c.Wait()
		if code := c.ProcessState.ExitCode(); code != exitInterrupted && code != -1 || strings.Contains(errs.String(), "goroutine ") {
			t.Errorf("%v exits with %d: %s; want %d", args, code, errs.String(), exitInterrupted)
		}
	}
}

// TestAnswerLost guards against success when nobody got the answer.
func TestAnswerLost(t *testing.T) {
	v := newVault(t, notes{"x.md": strings.Repeat("keyword limpkin\n\n", 50)})
	full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
	if err != nil {
		t.Logf("no /dev/full here: %v", err)
	} else {
		defer full.Close()
		c := program(t, nil, "recall", "--vault", v.dir, "limpkin")
		c.Stdout = full
		if code, errs := finish(t, c); code != exitFailure || !strings.Contains(errs, "write answer") {
			t.Errorf("full disk: exit %d: %s", code, errs)
		}
	}
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	r.Close()
	defer w.Close()
	for _, args := range [][]string{{"recall", "--json", "limpkin"}, {"list"}, {"--help"}} {
		c := program(t, nil, append(args, "--vault", v.dir)...)
		c.Stdout = w
		if code, errs := finish(t, c); code != exitFailure || !strings.Contains(errs, "broken pipe") {
			t.Errorf("%v into a closed pipe: exit %d: %s", args, code, errs)
		}
	}
}

// ordinary makes c run as a user who may not write what root owns. Files below dir
// become readable to it.
func ordinary(t *testing.T, c *exec.Cmd, dir string) {
	t.Helper()
	if os.Getuid() != 0 {
		return
	}
	bin := filepath.Join(dir, "memsearch")
	raw, err := os.ReadFile(c.Path)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(bin, raw, 0o755); err != nil {
		t.Fatal(err)
	}
	for d := dir; d != filepath.Dir(os.TempDir()) && len(d) > 1; d = filepath.Dir(d) {
		if fi, err := os.Stat(d); err == nil && fi.Mode().Perm()&0o005 != 0o005 {
			if err := os.Chmod(d, fi.Mode().Perm()|0o055); err != nil {
				t.Fatal(err)
			}
		}
	}
	c.Path, c.Args[0] = bin, bin
	c.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
}

// TestReadOnlyVault guards against a recall that needs to write, and against a
// write that fails half-way in a vault that is not writable.
func TestReadOnlyVault(t *testing.T) {
	v := newVault(t, notes{"x.md": "keyword limpkin\n", "secret.md": "keyword potoo\n"})
	base := t.TempDir()
	index := filepath.Join(base, "index")
	for _, err := range []error{os.Mkdir(index, 0o777), os.Chmod(index, 0o777), os.Chmod(v.path("secret.md"), 0), os.Chmod(v.dir, 0o555)} {
		if err != nil {
			t.Fatal(err)
		}
	}
	t.Cleanup(func() { os.Chmod(v.dir, 0o755) })
	ask := func(args ...string) (int, *memsearch.Result, string) {
		t.Helper()
		var out bytes.Buffer
		c := program(t, nil, append(args, "--vault", v.dir)...)
		ordinary(t, c, base)
		os.Chmod(filepath.Dir(v.dir), 0o755)
		c.Stdout = &out
		code, errs := finish(t, c)
		res := &memsearch.Result{}
		if err := json.Unmarshal(out.Bytes(), res); err != nil && args[0] == "recall" {
			t.Fatalf("%v: %v: %s %s", args, err, out.String(), errs)
		}
		return code, res, errs
	}
	code, res, _ := ask("recall", "--json", "limpkin", "--index-dir", index)
	const unread = "user: 1 file could not be read (permission denied); memsearch doctor names them"
	for range 2 { // also when nothing changed since
		if code != exitOK || res.Status != memsearch.StateDegraded || !slices.Contains(res.Reasons, unread) || !slices.Equal(paths(res), []string{"x.md"}) {
			t.Errorf("with an index elsewhere: exit %d, %s %v, hits %v", code, res.Status, res.Reasons, paths(res))
		}
		code, res, _ = ask("recall", "--json", "limpkin", "--index-dir", index)
	}
	code, res, _ = ask("recall", "--json", "limpkin")
	if code != exitOK || res.Status != memsearch.StateDegraded || len(res.Hits) != 1 || !strings.Contains(strings.Join(res.Reasons, " "), "in memory") {
		t.Errorf("without one: exit %d, %s %v, hits %v; want an answer from memory", code, res.Status, res.Reasons, paths(res))
	}
	if code, res, _ = ask("recall", "--json", "potoo", "--index-dir", index); code != exitOK || res.Status != memsearch.StateDegraded || len(res.Hits) != 0 {
		t.Errorf("an unreadable file: exit %d, %s, hits %v; it is not empty: the file may hold the word", code, res.Status, paths(res))
	}
	if err := errors.Join(os.WriteFile(v.path("new.md"), []byte("keyword shoebill\n"), 0o644), os.Chmod(index, 0o555)); err != nil {
		t.Fatal(err)
	}
	code, res, _ = ask("recall", "--json", "shoebill", "--index-dir", index)
	if code != exitOK || res.Status != memsearch.StateDegraded || len(res.Hits) == 0 || res.Hits[0].Path != "new.md" {
		t.Errorf("a new file beside an index that cannot follow: exit %d, %s %v, hits %v", code, res.Status, res.Reasons, paths(res))
	}
	code, _, errs := ask("remember", "one", "--index-dir", index)
	if code != exitFailure || !strings.Contains(errs, "hint: give a writable folder") {
		t.Errorf("remember: exit %d: %s", code, errs)
	}
	if code, _, errs = ask("index"); code != exitFailure || !strings.Contains(errs, "--index-dir") {
		t.Errorf("index: exit %d: %s", code, errs)
	}
	if code, _, errs = ask("doctor", "--index-dir", index); code != exitOK {
		t.Errorf("doctor: exit %d: %s", code, errs)
	}
	if left, err := os.ReadDir(v.dir); err != nil || len(left) != 3 {
		t.Errorf("the vault now holds %v (%v)", left, err)
	}
}

// TestStartIsLight guards against work at every start for what few commands need,
// such as a large regular expression: a recall pays for it.
func TestStartIsLight(t *testing.T) {
	const most = 200 << 10 // bytes that one package may allocate before main
	_, trace := finish(t, program(t, []string{"GODEBUG=inittrace=1"}, "--version"))
	seen := 0
	for line := range strings.Lines(trace) {
		// init internal/bytealg @0.008 ms, 0 ms clock, 0 bytes, 0 allocs
		f := strings.Fields(line)
		if len(f) < 11 || f[0] != "init" || !strings.HasPrefix(f[1], "github.com/memsearch/") {
			continue
		}
		seen++
		if n, err := strconv.Atoi(f[7]); err != nil || n > most {
			t.Errorf("%s allocates %d bytes at every start, %v", f[1], n, err)
		}
	}
	if seen == 0 {
		t.Errorf("no trace in %q", trace)
	}
}
