package main

import (
	"fmt"
	"os"
	"runtime"
	"slices"
	"strings"
	"time"
)

// A report is the Markdown being written.
type report struct{ strings.Builder }

func newReport(args []string) *report {
	r := &report{}
	fmt.Fprintf(r, "# Results\n\nWritten by `go run ./benchmarks %s`; do not edit.\n\n", strings.Join(args, " "))
	fmt.Fprintf(r, "Machine: %s, %d logical processors, %s, %s/%s, %s. Date: %s.\n\n", cpuName(), runtime.NumCPU(), memory(), runtime.GOOS, runtime.GOARCH,
		runtime.Version(), time.Now().UTC().Format(time.DateOnly))
	r.WriteString("A shared machine: read ratios and medians, not single times. Goals are those of the design.\n")
	return r
}

func (r *report) section(title, text string) {
	fmt.Fprintf(r, "\n## %s\n\n%s\n", title, text)
}

// table writes a Markdown table; the first row is the header.
func (r *report) table(rows [][]string) {
	if len(rows) == 0 {
		return
	}
	r.WriteByte('\n')
	for i, row := range rows {
		fmt.Fprintf(r, "| %s |\n", strings.Join(row, " | "))
		if i == 0 {
			r.WriteString(strings.Repeat("| --- ", len(row)) + "|\n")
		}
	}
}

// cpuName is what the system calls its processor.
func cpuName() string {
	b, err := os.ReadFile("/proc/cpuinfo")
	if err != nil {
		return "unknown processor"
	}
	for line := range strings.Lines(string(b)) {
		if name, ok := strings.CutPrefix(line, "model name"); ok {
			return strings.TrimSpace(strings.TrimLeft(name, "\t :"))
		}
	}
	return "unknown processor"
}

func memory() string {
	b, err := os.ReadFile("/proc/meminfo")
	if err != nil {
		return "unknown memory"
	}
	var kb float64
	if _, err := fmt.Sscanf(string(b), "MemTotal: %f kB", &kb); err != nil {
		return "unknown memory"
	}
	return fmt.Sprintf("%.0f GiB", kb/(1<<20))
}

// percentile returns the p-th quantile (0-1) of x by nearest rank.
func percentile(x []float64, p float64) float64 {
	if len(x) == 0 {
		return 0
	}
	s := slices.Sorted(slices.Values(x))
	return s[min(len(s)-1, int(p*float64(len(s))))]
}

func ms(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }

func mib(bytes int64) string { return fmt.Sprintf("%.0f MiB", float64(bytes)/(1<<20)) }
