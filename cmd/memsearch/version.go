package main

import "runtime/debug"

// version returns the module's version, or the commit it was built from.
func version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "unknown"
	}
	v := info.Main.Version
	if v != "" && v != "(devel)" {
		return v + " " + info.GoVersion
	}
	v = "devel"
	for _, s := range info.Settings {
		if s.Key == "vcs.revision" {
			v += "-" + s.Value[:min(12, len(s.Value))]
		}
	}
	return v + " " + info.GoVersion
}
