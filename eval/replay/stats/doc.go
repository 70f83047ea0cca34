// Package stats holds the statistics of paired comparisons: did the same tasks go
// better in one arm than in another, and is that more than noise?
//
//	pairs per task -> difference with its interval -> exact test -> p corrected for the number of arms -> enough evidence?
//
// [PairedBootstrap] gives the size of a difference, [McNemar] (one run per task)
// and [SignTest] (repetitions) say whether its direction is more than chance,
// [Holm] corrects when several arms meet one baseline, [Enough] says when no
// verdict may be given at all, and [MinimumDetectable] says before a run what it
// could find.
//
// Limits: tasks count as independent; repetitions of one task do not, and come as
// their mean. Counts are never negative. Randomness comes from a seed alone, so equal
// inputs give equal output.
package stats
