package main

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"
)

// tick is the unit of processor time in /proc: 1/100 s towards programs on every architecture that Go
// runs Linux on, whatever the kernel's own is (proc(5), sysconf(_SC_CLK_TCK)).
const tick = time.Second / 100

// process is what /proc/<pid>/stat says that matters here.
type process struct {
	pid, parent int
	used        time.Duration // user and system time, with that of children that have ended
}

// processes reads a program and all that descend from it, by pid.
func processes(root int) ([]process, error) {
	entries, err := os.ReadDir("/proc")
	if err != nil {
		return nil, fmt.Errorf("reading processes: %w", err)
	}
	var all []process
	for _, e := range entries {
		pid, err := strconv.Atoi(e.Name())
		if err != nil {
			continue
		}
		text, err := os.ReadFile("/proc/" + e.Name() + "/stat")
		if err != nil {
			continue // it ended meanwhile
		}
		p, err := parseStat(pid, text)
		if err != nil {
			return nil, err
		}
		all = append(all, p)
	}
	return family(all, root)
}

// parseStat reads fields 4 (parent) and 14 to 17 (utime, stime, cutime, cstime) of a stat line. The second,
// the name, is in parentheses and may hold any character, parentheses included (proc(5)).
func parseStat(pid int, line []byte) (process, error) {
	end := bytes.LastIndexByte(line, ')')
	fields := strings.Fields(string(line[end+1:]))
	if end < 0 || len(fields) < 15 {
		return process{}, fmt.Errorf("reading process %d: unknown format %q", pid, line)
	}
	p := process{pid: pid}
	var err error
	if p.parent, err = strconv.Atoi(fields[4-3]); err != nil {
		return process{}, fmt.Errorf("reading process %d: %w", pid, err)
	}
	for _, f := range fields[14-3 : 18-3] {
		n, err := strconv.ParseInt(f, 10, 64)
		if err != nil {
			return process{}, fmt.Errorf("reading process %d: %w", pid, err)
		}
		p.used += time.Duration(n) * tick
	}
	return p, nil
}

// family picks the process of a pid and its descendants.
func family(all []process, root int) ([]process, error) {
	var members []process
	for _, p := range all {
		if p.pid == root {
			members = append(members, p)
		}
	}
	if members == nil {
		return nil, fmt.Errorf("there is no process %d", root)
	}
	for i := 0; i < len(members); i++ { // it grows
		for _, p := range all {
			if p.parent == members[i].pid {
				members = append(members, p)
			}
		}
	}
	slices.SortFunc(members, func(a, b process) int { return a.pid - b.pid })
	return members, nil
}

// usedSince is the processor time between two looks at the same family. A worker that came or went is an
// error: part of the time would be missing.
func usedSince(before, after []process) (time.Duration, error) {
	same := slices.EqualFunc(before, after, func(a, b process) bool { return a.pid == b.pid })
	if !same {
		return 0, errors.New("a worker of the proxy came or went during the run")
	}
	var used time.Duration
	for i := range before {
		used += after[i].used - before[i].used
	}
	return used, nil
}

// resetPeak begins the peak of resident memory anew (proc(5): 5 written to clear_refs).
func resetPeak(list []process) error {
	for _, p := range list {
		if err := os.WriteFile(fmt.Sprintf("/proc/%d/clear_refs", p.pid), []byte("5"), 0); err != nil {
			return fmt.Errorf("resetting peak memory: %w", err)
		}
	}
	return nil
}

// peak is the sum of the peaks of resident memory, in bytes. Pages that processes share count in each.
func peak(list []process) (int64, error) {
	var sum int64
	for _, p := range list {
		file := fmt.Sprintf("/proc/%d/status", p.pid)
		text, err := os.ReadFile(file)
		if err != nil {
			return 0, fmt.Errorf("reading peak memory: %w", err)
		}
		n, err := parsePeak(text)
		if err != nil {
			return 0, fmt.Errorf("reading peak memory: %w", &fs.PathError{Op: "parse", Path: file, Err: err})
		}
		sum += n
	}
	return sum, nil
}

func parsePeak(status []byte) (int64, error) {
	for line := range strings.Lines(string(status)) {
		if value, found := strings.CutPrefix(line, "VmHWM:"); found {
			kib, err := strconv.ParseInt(strings.TrimSuffix(strings.TrimSpace(value), " kB"), 10, 64)
			return kib << 10, err
		}
	}
	return 0, errors.New("no VmHWM")
}
