package main

import (
	"bytes"
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"time"
)

// program is a process that this command started, and ends.
type program struct {
	name  string
	said  string // file with its standard error
	cmd   *exec.Cmd
	ended chan struct{} // closed when it has ended
}

// start runs a program with an existing folder as its working directory. It gets a process group of its
// own, so that an interrupt from the terminal reaches only this command, which then stops it in order.
func start(name, dir string, args, env []string) (*program, error) {
	p := &program{name: name, said: filepath.Join(dir, "stderr"), ended: make(chan struct{})}
	stderr, err := os.Create(p.said)
	if err != nil {
		return nil, fmt.Errorf("starting %s: %w", name, err)
	}
	defer stderr.Close()
	// HAProxy logs to its standard output. Appending lets the file be truncated between runs.
	stdout, err := os.OpenFile(logFile(dir), os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o600)
	if err != nil {
		return nil, fmt.Errorf("starting %s: %w", name, err)
	}
	defer stdout.Close()
	p.cmd = exec.Command(args[0], args[1:]...)
	p.cmd.Dir, p.cmd.Stdout, p.cmd.Stderr = dir, stdout, stderr
	p.cmd.Env = append(os.Environ(), env...)
	p.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := p.cmd.Start(); err != nil {
		return nil, fmt.Errorf("starting %s: %w", name, err)
	}
	go func() {
		defer close(p.ended)
		p.cmd.Wait()
	}()
	return p, nil
}

// logFile is where a proxy in this folder writes its access log.
func logFile(dir string) string { return filepath.Join(dir, "access.log") }

func (p *program) pid() int { return p.cmd.Process.Pid }

// until asks again and again until ok returns no error, while the program runs and at most ten seconds.
func (p *program) until(ctx context.Context, what string, ok func() error) error {
	tick, end := time.NewTicker(50*time.Millisecond), time.After(10*time.Second)
	defer tick.Stop()
	for {
		err := ok()
		if err == nil {
			return nil
		}
		select {
		case <-tick.C:
		case <-end:
			return fmt.Errorf("%s: waited in vain until %s: %w\n%s", p.name, what, err, p.lastWords())
		case <-p.ended:
			return fmt.Errorf("%s ended by itself: %v\n%s", p.name, p.cmd.ProcessState, p.lastWords())
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// stop ends the program and its workers; ten seconds after being asked to, the hard way.
func (p *program) stop() error {
	select {
	case <-p.ended:
		return fmt.Errorf("%s had ended by itself: %v\n%s", p.name, p.cmd.ProcessState, p.lastWords())
	default:
	}
	p.cmd.Process.Signal(syscall.SIGTERM)
	select {
	case <-p.ended:
		return nil
	case <-time.After(10 * time.Second):
	}
	syscall.Kill(-p.pid(), syscall.SIGKILL) // the group that start made: the program and its workers
	<-p.ended
	return fmt.Errorf("%s did not end within ten seconds of SIGTERM", p.name)
}

// lastWords is the end of what the program wrote to its standard error.
func (p *program) lastWords() []byte {
	said, err := os.ReadFile(p.said)
	if err != nil {
		return []byte(err.Error())
	}
	lines := bytes.Split(bytes.TrimSpace(said), []byte("\n"))
	return bytes.Join(lines[max(0, len(lines)-10):], []byte("\n"))
}

// freeAddresses are n different loopback addresses that were free a moment ago.
func freeAddresses(n int) ([]string, error) {
	list := make([]string, 0, n)
	for range n {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			return nil, fmt.Errorf("looking for a free port: %w", err)
		}
		defer l.Close() // after the last one was found, so that none is given twice
		list = append(list, l.Addr().String())
	}
	return list, nil
}
