package replay

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/memsearch/memsearch"
	"github.com/memsearch/memsearch/core"
)

// Exec runs a command for each task, in an empty folder of its own. The prompt
// is its standard input, its standard output the answer. In its environment are
//
//	MEMSEARCH_CONTEXT    file with what the arm prepared; empty in the arm none
//	MEMSEARCH_VAULT      the run's copy of the task's first vault; an empty folder
//	                     in arms that do not let a command search by itself
//	MEMSEARCH_VAULTS     all of them, as NAME=DIR, parted as PATH is
//	MEMSEARCH_MCP        file that configures an MCP client with a server of these
//	                     vaults, or with none
//	MEMSEARCH_NOW        when the task is done, RFC 3339
//	MEMSEARCH_SEED       the same in every arm
//
// and no other MEMSEARCH_VAULT or MEMSEARCH_INDEX_DIR. The memsearch command reads
// vaults and clock from there, so an agent that calls it, or a server that is
// started from MEMSEARCH_MCP, sees what the task is over. Everything else is
// inherited, and nothing keeps the command from what the user can reach: it is no
// sandbox, and what a command remembers by itself stays between runs. What it
// costs is not known; each run counts as one call.
type Exec struct {
	Command []string
	MCP     []string      // the command of the MCP server; empty: MEMSEARCH_MCP names none
	Stderr  *os.File      // of the command; nil: it is thrown away
	Timeout time.Duration // zero: [DefaultExecTimeout]
}

// DefaultExecTimeout is how long a command may take.
const DefaultExecTimeout = 10 * time.Minute

const (
	maxOutput  = 1 << 20 // bytes of an answer
	promptFile = "prompt"

	watchOutput = 50 * time.Millisecond // how often the length of an answer is looked at
)

// errFlood ends a command that would fill the disk.
var errFlood = fmt.Errorf("it printed more than %d MiB", maxOutput>>20)

// Name implements [Runner].
func (e *Exec) Name() string { return "exec " + strings.Join(e.Command, " ") }

// Run implements [Runner].
func (e *Exec) Run(ctx context.Context, t *Trial, p *core.Prepared) (Outcome, memsearch.Cost, error) {
	if len(e.Command) == 0 {
		return Outcome{}, memsearch.Cost{}, errors.New("run command: there is none")
	}
	dir, env, err := e.folder(t, p)
	if err != nil {
		return Outcome{}, memsearch.Cost{}, fmt.Errorf("run command: %w", err)
	}
	ctx, cancel := context.WithTimeoutCause(ctx, cmp.Or(e.Timeout, DefaultExecTimeout), ErrTimeout)
	defer cancel()
	ctx, flooded := context.WithCancelCause(ctx)
	defer flooded(nil)
	in, err := os.Open(filepath.Join(t.Dir, promptFile))
	if err != nil {
		return Outcome{}, memsearch.Cost{}, fmt.Errorf("run command: %w", err)
	}
	defer in.Close() // read only
	out, err := os.Create(filepath.Join(t.Dir, "answer"))
	if err != nil {
		return Outcome{}, memsearch.Cost{}, fmt.Errorf("run command: %w", err)
	}
	defer out.Close() // what is in it was read
	// With files instead of pipes, nothing is waited for but the command itself.
	cmd := exec.CommandContext(ctx, e.Command[0], e.Command[1:]...)
	cmd.Dir, cmd.Env, cmd.Stdin, cmd.Stdout = dir, env, in, out
	if e.Stderr != nil {
		cmd.Stderr = e.Stderr
	}
	group(cmd)
	stop := watch(ctx, out, flooded)
	err = cmd.Run()
	killGroup(cmd) // what it left running
	stop()
	cost := memsearch.Cost{Calls: 1}
	if ctx.Err() != nil {
		return Outcome{}, cost, fmt.Errorf("run command: %w", context.Cause(ctx))
	}
	if _, ok := errors.AsType[*exec.ExitError](err); err != nil && !ok {
		return Outcome{}, cost, fmt.Errorf("run command: %w", err)
	}
	answer, err := io.ReadAll(io.NewSectionReader(out, 0, maxOutput+1))
	switch {
	case err != nil:
		return Outcome{}, cost, fmt.Errorf("read answer: %w", err)
	case len(answer) > maxOutput:
		return Outcome{}, cost, fmt.Errorf("run command: %w", errFlood)
	}
	return Outcome{Answer: strings.TrimSpace(strings.ToValidUTF8(string(answer), "\uFFFD")), Dir: dir, ExitCode: cmd.ProcessState.ExitCode()}, cost, nil
}

// watch calls flooded when the file grows too long. The function that it returns
// ends that.
func watch(ctx context.Context, file *os.File, flooded context.CancelCauseFunc) (stop func()) {
	ctx, cancel := context.WithCancel(ctx)
	var wg sync.WaitGroup
	wg.Go(func() {
		tick := time.NewTicker(watchOutput)
		defer tick.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-tick.C:
				if fi, err := file.Stat(); err == nil && fi.Size() > maxOutput {
					flooded(errFlood)
					return
				}
			}
		}
	})
	return func() {
		cancel()
		wg.Wait()
	}
}

// folder makes the folders of a run and its environment.
func (e *Exec) folder(t *Trial, p *core.Prepared) (dir string, env []string, err error) {
	dir = filepath.Join(t.Dir, "work")
	empty := filepath.Join(t.Dir, "no-memory")
	for _, d := range []string{dir, empty} {
		if err := os.MkdirAll(d, 0o755); err != nil {
			return "", nil, err
		}
	}
	if !t.Vault { // nor may it come across the copies
		for _, d := range append(t.dirs(), filepath.Join(t.Dir, indexDir)) {
			if err := os.RemoveAll(d); err != nil {
				return "", nil, err
			}
		}
	}
	if err := os.WriteFile(filepath.Join(t.Dir, promptFile), []byte(Transcript(t.Task)), 0o600); err != nil {
		return "", nil, err
	}
	context := filepath.Join(t.Dir, "context.md")
	text := p.Content
	if text != "" {
		text = p.Instructions + "\n\n" + text
	}
	if err := os.WriteFile(context, []byte(text), 0o600); err != nil {
		return "", nil, err
	}
	first, vaults := empty, []string{}
	if t.Vault {
		first = t.State.Scopes[0].Dir
		for _, sc := range t.State.Scopes {
			vault := sc.Name + "=" + sc.Dir
			if strings.Contains(sc.Name, "=") || len(filepath.SplitList(vault)) > 1 {
				return "", nil, fmt.Errorf("MEMSEARCH_VAULTS cannot name the vault %s in %s: a name without = and folders without %c are needed", sc.Name, sc.Dir, os.PathListSeparator)
			}
			vaults = append(vaults, vault)
		}
	}
	own := append(slices.Clone(t.Env),
		"MEMSEARCH_CONTEXT="+context,
		"MEMSEARCH_VAULT="+first,
		"MEMSEARCH_VAULTS="+strings.Join(vaults, string(os.PathListSeparator)),
		"MEMSEARCH_NOW="+t.Task.Now.Format(time.RFC3339),
		"MEMSEARCH_SEED="+strconv.FormatUint(t.Seed, 10),
	)
	servers := filepath.Join(t.Dir, "mcp.json")
	if err := e.servers(servers, t.Vault, own); err != nil {
		return "", nil, err
	}
	env = slices.DeleteFunc(os.Environ(), func(kv string) bool {
		return strings.HasPrefix(kv, "MEMSEARCH_VAULT") || strings.HasPrefix(kv, "MEMSEARCH_INDEX_DIR=")
	})
	return dir, append(append(env, own...), "MEMSEARCH_MCP="+servers), nil
}

// servers writes the configuration of an MCP client. Clients start servers with an
// environment of their own, so it stands in the file.
func (e *Exec) servers(file string, search bool, env []string) error {
	type server struct {
		Command string            `json:"command"`
		Args    []string          `json:"args"`
		Env     map[string]string `json:"env"`
	}
	list := map[string]server{}
	if search && len(e.MCP) > 0 {
		s := server{e.MCP[0], e.MCP[1:], map[string]string{}}
		for _, kv := range env {
			name, value, _ := strings.Cut(kv, "=")
			s.Env[name] = value
		}
		list["memsearch"] = s
	}
	raw, err := json.Marshal(map[string]any{"mcpServers": list})
	if err != nil {
		return err
	}
	return os.WriteFile(file, raw, 0o600)
}
