// Package core is the Go API of memsearch and the facade that every front door
// uses.
//
//	Open(scopes) -> Recall, PrepareContext        read: never blocks, never breaks the agent
//	             -> Remember, Supersede, Forget   write: guarded, only in the role of a job
//
// A scope is one directory of Markdown files with an index of its own. The caller
// decides which scopes it may read and in which order; no scope is ever named by
// text that a model wrote.
//
// Reading is fail-open: a broken index, a full disk or a missing model make the
// answer degraded, with reasons, and never an error. Writing is fail-closed.
package core
