package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// TestCommandScripts runs testdata/script: command lines with what they must print and
// how they must end, and below them the files they find. The commands:
//
//	exec PROGRAM ARG...    run; with ! it must fail
//	code N PROGRAM ARG...  run; it must end with this code
//	stdin FILE             standard input of the next run
//	stdout|stderr REGEXP   of the last run; with ! no match
//	json PATH VALUE        standard output is one JSON document with this value
//	capture NAME PATH      a value of that document becomes $NAME
//	grep REGEXP FILE, exists FILE, same FILE FILE, env K=V, mkdir DIR, rm FILE,
//	cp FROM TO, append FILE TEXT, ln TARGET LINK, truncate FILE SIZE
func TestCommandScripts(t *testing.T) {
	files, err := filepath.Glob("testdata/script/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatalf("no scripts: %v", err)
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txt"), func(t *testing.T) {
			t.Parallel()
			raw, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			s := &script{dir: t.TempDir(), self: self}
			s.env = map[string]string{"WORK": s.dir, "HOME": filepath.Join(s.dir, "home"), "XDG_CONFIG_HOME": filepath.Join(s.dir, "config"), "PATH": os.Getenv("PATH"), asProgram: "1", "GOCOVERDIR": coverDir(t)}
			s.run(t, file, string(raw))
		})
	}
}

type script struct {
	dir, self      string
	env            map[string]string
	stdin          string
	stdout, stderr string
}

var fileMark = regexp.MustCompile(`(?m)^-- (\S.*) --\n`)

func (s *script) run(t *testing.T, name, text string) {
	marks := fileMark.FindAllStringSubmatchIndex(text, -1)
	lines := text
	for i, m := range marks {
		if i == 0 {
			lines = text[:m[0]]
		}
		end := len(text)
		if i+1 < len(marks) {
			end = marks[i+1][0]
		}
		file := filepath.Join(s.dir, filepath.FromSlash(text[m[2]:m[3]]))
		if err := errors.Join(os.MkdirAll(filepath.Dir(file), 0o755), os.WriteFile(file, []byte(text[m[1]:end]), 0o644)); err != nil {
			t.Fatal(err)
		}
	}
	n := 0
	for line := range strings.SplitSeq(lines, "\n") {
		n++
		words, err := s.words(line)
		if err == nil && len(words) > 0 {
			err = s.do(words)
		}
		if err != nil {
			t.Fatalf("%s:%d: %s: %v\nstdout: %.2000s\nstderr: %.2000s", name, n, strings.TrimSpace(line), err, s.stdout, s.stderr)
		}
	}
}

// words splits a line at spaces outside single quotes, with variables replaced
// outside them too.
func (s *script) words(line string) ([]string, error) {
	var out []string
	var word strings.Builder
	open, quoted := false, false
	for i, part := range strings.Split(line, "'") {
		if quoted = i%2 == 1; quoted {
			word.WriteString(part)
			open = true
			continue
		}
		for _, r := range os.Expand(part, func(k string) string { return s.env[k] }) {
			if r == '#' && !open {
				return out, nil // a comment
			}
			if r != ' ' && r != '\t' {
				word.WriteRune(r)
				open = true
			} else if open {
				out = append(out, word.String())
				word.Reset()
				open = false
			}
		}
	}
	if quoted {
		return nil, errors.New("quote not closed")
	}
	if open {
		out = append(out, word.String())
	}
	return out, nil
}

func (s *script) path(name string) string {
	if filepath.IsAbs(name) {
		return name
	}
	return filepath.Join(s.dir, filepath.FromSlash(name))
}

func (s *script) do(words []string) error {
	not := words[0] == "!"
	if not {
		words = words[1:]
	}
	cmd, args := words[0], words[1:]
	switch cmd {
	case "exec", "code":
		return s.exec(cmd, not, args)
	case "stdout":
		return s.match(s.stdout, args[0], not)
	case "stderr":
		return s.match(s.stderr, args[0], not)
	case "grep":
		raw, err := os.ReadFile(s.path(args[1]))
		return errors.Join(err, s.match(string(raw), args[0], not))
	case "exists":
		if _, err := os.Lstat(s.path(args[0])); (err == nil) == not {
			return fmt.Errorf("exists: %v", err)
		}
		return nil
	case "json":
		got, err := s.value(args[0])
		if err == nil && (got == args[1]) == not {
			err = fmt.Errorf("%s is %q", args[0], got)
		}
		return err
	case "capture":
		got, err := s.value(args[1])
		s.env[args[0]] = got
		return err
	case "env":
		k, v, _ := strings.Cut(args[0], "=")
		s.env[k] = v
		return nil
	}
	return s.change(cmd, args)
}

// change does what changes files.
func (s *script) change(cmd string, args []string) error {
	switch cmd {
	case "stdin":
		raw, err := os.ReadFile(s.path(args[0]))
		s.stdin = string(raw)
		return err
	case "same":
		a, err := os.ReadFile(s.path(args[0]))
		b, err2 := os.ReadFile(s.path(args[1]))
		if !bytes.Equal(a, b) {
			return errors.New("the files differ")
		}
		return errors.Join(err, err2)
	case "mkdir":
		return os.MkdirAll(s.path(args[0]), 0o755)
	case "rm":
		return os.RemoveAll(s.path(args[0]))
	case "cp":
		raw, err := os.ReadFile(s.path(args[0]))
		return errors.Join(err, os.WriteFile(s.path(args[1]), raw, 0o644))
	case "append":
		raw, err := os.ReadFile(s.path(args[0]))
		return errors.Join(err, os.WriteFile(s.path(args[0]), append(raw, args[1]+"\n"...), 0o644))
	case "ln":
		return os.Symlink(args[0], s.path(args[1]))
	case "truncate":
		size, err := strconv.ParseInt(args[1], 10, 64)
		return errors.Join(err, os.Truncate(s.path(args[0]), size))
	}
	return fmt.Errorf("unknown command %q", cmd)
}

func (s *script) exec(cmd string, not bool, args []string) error {
	want := "0"
	if cmd == "code" {
		want, args = args[0], args[1:]
	}
	program := args[0]
	if program == "memsearch" {
		program = s.self
	}
	c := exec.Command(program, args[1:]...)
	c.Dir, c.Stdin = s.dir, strings.NewReader(s.stdin)
	for k, v := range s.env {
		c.Env = append(c.Env, k+"="+v)
	}
	var out, errs bytes.Buffer
	c.Stdout, c.Stderr = &out, &errs
	err := c.Run()
	s.stdin, s.stdout, s.stderr = "", out.String(), errs.String()
	if _, ended := errors.AsType[*exec.ExitError](err); err != nil && !ended {
		return err
	}
	got := strconv.Itoa(c.ProcessState.ExitCode())
	if strings.Contains(s.stderr, "goroutine ") {
		return errors.New("it crashed")
	}
	if (got == want) == not {
		return fmt.Errorf("exit code %s", got)
	}
	return nil
}

func (s *script) match(text, pattern string, not bool) error {
	re, err := regexp.Compile("(?m)" + pattern)
	if err != nil {
		return err
	}
	if re.MatchString(text) == not {
		return fmt.Errorf("match of %q: %v", pattern, !not)
	}
	return nil
}

// value returns what stands at a dotted path of standard output, which must be
// one JSON document: a number indexes a list, # counts one.
func (s *script) value(path string) (string, error) {
	dec := json.NewDecoder(strings.NewReader(s.stdout))
	var v any
	if err := dec.Decode(&v); err != nil || dec.More() {
		return "", fmt.Errorf("standard output is not one JSON document: %v", err)
	}
	for key := range strings.SplitSeq(path, ".") {
		switch x := v.(type) {
		case map[string]any:
			var ok bool
			if v, ok = x[key]; !ok {
				return "", fmt.Errorf("no %s in %v", key, x)
			}
		case []any:
			if key == "#" {
				v = len(x)
				continue
			}
			i, err := strconv.Atoi(key)
			if err != nil || i >= len(x) {
				return "", fmt.Errorf("no %s in a list of %d", key, len(x))
			}
			v = x[i]
		}
	}
	return fmt.Sprint(v), nil
}
