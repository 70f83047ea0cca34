package index_test

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/memsearch/memsearch/embed/static"
	"github.com/memsearch/memsearch/index"
	"github.com/memsearch/memsearch/internal/vault"
)

// childEnv tells the test binary to be another process of memsearch: its value
// is a role, the arguments are the vault.
const childEnv = "MEMSEARCH_TEST_CHILD"

func TestMain(m *testing.M) {
	if role := os.Getenv(childEnv); role != "" {
		if err := child(role, os.Args[1]); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	flag.Parse()
	if f := flag.Lookup("rapid.checks"); f.Value.String() == f.DefValue {
		// A check syncs several times, and each sync waits for the disk.
		if err := f.Value.Set("20"); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
	}
	os.Exit(m.Run())
}

// child syncs or reads the vault until its standard input is closed.
func child(role, dir string) error {
	stop := make(chan struct{})
	go func() {
		defer close(stop)
		_, _ = os.Stdin.Read(make([]byte, 1)) // nothing is ever sent
	}()
	v, err := vault.Open(dir, &vault.Options{ReadOnly: true})
	if err != nil {
		return err
	}
	m, err := static.Shared()
	if err != nil {
		return err
	}
	for done := false; !done; {
		ix, err := index.Open(filepath.Join(dir, ".memsearch"), v, &index.Options{Embedder: m})
		if err != nil {
			return err
		}
		switch role {
		case "write":
			_, err = ix.Sync(context.Background(), index.SyncOptions{Wait: 10 * time.Second})
		case "rebuild":
			_, err = ix.Sync(context.Background(), index.SyncOptions{Wait: 10 * time.Second, Rebuild: true})
		case "read":
			err = readOnce(ix)
		}
		if err = errors.Join(err, ix.Close()); err != nil {
			return fmt.Errorf("%s: %w", role, err)
		}
		select {
		case <-stop:
			done = true
		default:
		}
	}
	return v.Close()
}

// readOnce asks one question, to which some unit always answers.
func readOnce(ix *index.Index) (err error) {
	ctx := context.Background()
	s, err := ix.Snapshot(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	l, err := s.Lexical(ctx, "production region")
	if err != nil {
		return err
	}
	v, err := s.Vector(ctx, "production region")
	if err != nil {
		return err
	}
	if len(l.Score) != s.Len() || len(v.Cos) != s.Len() || s.Len() == 0 {
		return fmt.Errorf("%d units, %d keyword scores, %d cosines", s.Len(), len(l.Score), len(v.Cos))
	}
	for ord, score := range l.Score {
		if score > 0 {
			_, err := s.Records(ctx, []uint32{uint32(ord)})
			return err
		}
	}
	return errors.New("nothing found")
}

// start runs the test binary as another process. The returned function ends it
// and reports its output if it failed.
func start(t *testing.T, role, dir string) (cmd *exec.Cmd, stop func()) {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd = exec.Command(exe, dir)
	cmd.Env = append(os.Environ(), childEnv+"="+role)
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	var out output
	cmd.Stderr = &out
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	return cmd, func() {
		if err := errors.Join(in.Close(), cmd.Wait()); err != nil {
			t.Errorf("%s process: %v: %s", role, err, out)
		}
	}
}

type output []byte

func (o *output) Write(p []byte) (int, error) { *o = append(*o, p...); return len(p), nil }
