// Command memsearch finds the memories that matter now in folders of Markdown.
//
//	memsearch recall --vault examples/vault "where does production run?"
//
// The answer goes to standard output, talk and progress to standard error. Exit
// codes: 0 ok, 1 error, 2 usage, 3 empty, 4 degraded with --strict, 5 busy, 6
// unavailable, 130 interrupted.
package main

import (
	"context"
	"io"
	"os"
	"os/signal"
	"runtime"
	"runtime/debug"
	"slices"
	"syscall"
)

func main() {
	signal.Ignore(syscall.SIGPIPE) // a reader that goes away is an error to report
	collectLater()
	os.Exit(run(os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
}

// collectLater lets the heap grow to 16 MiB before its first garbage collection,
// from which on the usual pace holds. A recall over 10,000 notes ends before it
// and so collects nothing; what outgrows it is worth collecting.
func collectLater() {
	if os.Getenv("GOGC") != "" {
		return
	}
	debug.SetGCPercent(400)
	runtime.AddCleanup(new([16]byte), func(struct{}) { debug.SetGCPercent(100) }, struct{}{})
}

// hoist moves a --vault DIR that ends the command line in front of a "--".
// Wrappers append the vault to whatever they were given, also to a query that
// stands behind "--"; three words of which the middle one is --vault are no query.
func hoist(args []string) []string {
	dash := slices.Index(args, "--")
	n := len(args)
	if dash < 0 || n-dash < 4 || args[n-2] != "--vault" {
		return args
	}
	return slices.Concat(args[:dash], args[n-2:], args[dash:n-2])
}

// run executes one command line and returns its exit code.
func run(args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	out := newAnswer(stdout)
	a := &app{in: stdin, out: out, err: stderr}
	root := a.root()
	root.SetArgs(hoist(args))
	root.SetIn(stdin)
	root.SetOut(out)
	root.SetErr(stderr)
	err := root.ExecuteContext(ctx)
	if werr := out.flush(); werr != nil {
		err = werr // whatever the answer was, it did not arrive
	}
	if ctx.Err() != nil {
		err = &exitErr{code: exitInterrupted, err: errInterrupted}
	}
	return a.fail(err)
}
