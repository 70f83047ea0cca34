package replay

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
)

// maxCheckedFile bounds what a file check reads, in bytes.
const maxCheckedFile = 4 << 20

// fileCheck looks at one regular file below the working folder. Without any
// condition it must exist; absent wants that it does not. Links that lead out of
// the folder are not followed: the file then counts as missing.
type fileCheck struct {
	Path     string  `yaml:"path"`
	Absent   bool    `yaml:"absent"`
	Contains string  `yaml:"contains"` // byte for byte
	Equals   *string `yaml:"equals"`   // but for white space at the end
	Regex    string  `yaml:"regex"`    // RE2

	re *regexp.Regexp
}

func (c *fileCheck) prepare() (err error) {
	switch {
	case !local(c.Path):
		return fmt.Errorf("path %q must be that of a file below the working folder", c.Path)
	case c.Absent && (c.Contains != "" || c.Equals != nil || c.Regex != ""):
		return errors.New("a file that must be absent holds nothing")
	}
	c.re, err = regexp.Compile(c.Regex)
	return err
}

func (c *fileCheck) Check(_ context.Context, o Outcome) (Verdict, error) {
	if o.Dir == "" {
		return fail("there is no working folder"), nil
	}
	text, err := readBelow(o.Dir, c.Path)
	missing := errors.Is(err, fs.ErrNotExist)
	switch {
	case err != nil && !missing:
		return Verdict{}, err
	case missing && c.Absent:
		return pass("%s is not there", c.Path), nil
	case missing:
		return fail("%s is not there", c.Path), nil
	case c.Absent:
		return fail("%s is there", c.Path), nil
	case !strings.Contains(text, c.Contains):
		return fail("%s does not hold %s", c.Path, quote(c.Contains)), nil
	case c.Equals != nil && strings.TrimRight(text, " \t\r\n") != strings.TrimRight(*c.Equals, " \t\r\n"):
		return fail("%s holds something else", c.Path), nil
	case !c.re.MatchString(text):
		return fail("%s does not match %s", c.Path, c.Regex), nil
	}
	return pass("%s is as it must be", c.Path), nil
}

// readBelow reads a file below dir; fs.ErrNotExist is wrapped when there is no
// regular file that can be reached without leaving dir.
func readBelow(dir, name string) (_ string, err error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, root.Close()) }()
	name = filepath.FromSlash(name)
	// Stat before Open: opening a pipe would wait for its writer.
	if fi, err := root.Stat(name); err != nil || !fi.Mode().IsRegular() {
		return "", fmt.Errorf("read %s: %w", name, fs.ErrNotExist)
	}
	f, err := root.Open(name)
	if err != nil {
		return "", err
	}
	defer f.Close() // read only
	raw, err := io.ReadAll(io.LimitReader(f, maxCheckedFile+1))
	if err == nil && len(raw) > maxCheckedFile {
		err = fmt.Errorf("%s has more than %d bytes", name, maxCheckedFile)
	}
	return string(raw), err
}

// exitCheck wants an exit code of the command.
type exitCheck struct {
	Code int `yaml:"code"`
}

func (c *exitCheck) prepare() error { return nil }

func (c *exitCheck) Check(_ context.Context, o Outcome) (Verdict, error) {
	if o.ExitCode != c.Code {
		return fail("the exit code is %d, not %d", o.ExitCode, c.Code), nil
	}
	return pass("the exit code is %d", c.Code), nil
}
