package main

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/coder/websocket"
)

// patience bounds every wait for the browser and for the page.
const patience = 30 * time.Second

// maxMessage is the largest message of the browser in bytes; a screenshot is one.
const maxMessage = 64 << 20

// page is one page of a headless Chromium, spoken to over its DevTools protocol
// (https://chromedevtools.github.io/devtools-protocol/).
type page struct {
	conn    *websocket.Conn
	session string
	ctx     context.Context

	mu      sync.Mutex
	id      int
	waiting map[int]chan message
	// faults are errors that the browser has seen: exceptions, failed requests, broken policies.
	faults []string
}

// message is what goes over the wire in either direction.
type message struct {
	ID      int             `json:"id,omitempty"`
	Session string          `json:"sessionId,omitempty"`
	Method  string          `json:"method,omitempty"`
	Params  any             `json:"params,omitempty"`
	Result  json.RawMessage `json:"result,omitempty"`
	Error   *struct {
		Message string `json:"message"`
	} `json:"error,omitempty"`
}

// open starts a browser with one empty page. close ends it.
func open(ctx context.Context) (p *page, closeBrowser func(), err error) {
	profile, err := os.MkdirTemp("", "console-profile")
	if err != nil {
		return nil, nil, err
	}
	args := []string{
		"--headless=new", "--remote-debugging-port=0", "--user-data-dir=" + profile, "--no-first-run", "--disable-gpu",
		"--disable-background-networking", "--disable-component-update", "--disable-sync", "--hide-scrollbars", "about:blank",
	}
	if os.Geteuid() == 0 {
		args = slices.Insert(args, 0, "--no-sandbox") // Chromium's sandbox does not start as root
	}
	cmd := exec.Command("chromium", args...)
	if err := cmd.Start(); err != nil {
		os.RemoveAll(profile)
		return nil, nil, fmt.Errorf("starting chromium: %w", err)
	}
	closeBrowser = func() {
		// Killed at once, it would leave processes that go on writing into the profile.
		if p != nil && p.call("Browser.close", nil, nil) == nil {
			slow := time.AfterFunc(patience, func() { cmd.Process.Kill() })
			defer slow.Stop()
		} else {
			cmd.Process.Kill()
		}
		cmd.Wait()
		os.RemoveAll(profile)
	}
	if p, err = connect(ctx, profile); err != nil {
		closeBrowser()
		return nil, nil, err
	}
	return p, closeBrowser, nil
}

// connect attaches to the page of the browser that has this profile.
func connect(ctx context.Context, profile string) (*page, error) {
	var where string
	err := until(ctx, "chromium to listen", func() (bool, error) {
		text, err := os.ReadFile(filepath.Join(profile, "DevToolsActivePort"))
		port, path, found := strings.Cut(strings.TrimSpace(string(text)), "\n")
		where = "ws://127.0.0.1:" + port + path
		return err == nil && found, nil
	})
	if err != nil {
		return nil, err
	}
	conn, _, err := websocket.Dial(ctx, where, nil)
	if err != nil {
		return nil, fmt.Errorf("connecting to chromium: %w", err)
	}
	conn.SetReadLimit(maxMessage)
	p := &page{conn: conn, ctx: ctx, waiting: make(map[int]chan message)}
	go p.read()
	var target struct {
		ID      string `json:"targetId"`
		Session string `json:"sessionId"`
	}
	if err := p.call("Target.createTarget", params{"url": "about:blank"}, &target); err != nil {
		return nil, err
	}
	if err := p.call("Target.attachToTarget", params{"targetId": target.ID, "flatten": true}, &target); err != nil {
		return nil, err
	}
	p.session = target.Session
	for _, domain := range []string{"Page", "Runtime", "Log"} {
		if err := p.call(domain+".enable", nil, nil); err != nil {
			return nil, err
		}
	}
	return p, nil
}

type params map[string]any

// call makes a call and reads its result.
func (p *page) call(method string, with any, result any) error {
	answer := make(chan message, 1)
	p.mu.Lock()
	p.id++
	m := message{ID: p.id, Session: p.session, Method: method, Params: with}
	p.waiting[m.ID] = answer
	p.mu.Unlock()
	text, err := json.Marshal(m)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(p.ctx, patience)
	defer cancel()
	if err := p.conn.Write(ctx, websocket.MessageText, text); err != nil {
		return fmt.Errorf("calling %s: %w", method, err)
	}
	select {
	case <-ctx.Done():
		return fmt.Errorf("calling %s: %w", method, ctx.Err())
	case got := <-answer:
		if got.Error != nil {
			return fmt.Errorf("calling %s: %s", method, got.Error.Message)
		}
		if result == nil {
			return nil
		}
		return json.Unmarshal(got.Result, result)
	}
}

// read takes answers and events until the browser ends.
func (p *page) read() {
	for {
		_, text, err := p.conn.Read(p.ctx)
		if err != nil {
			return
		}
		var m struct {
			message
			Params json.RawMessage `json:"params"`
		}
		if json.Unmarshal(text, &m) != nil {
			continue
		}
		p.mu.Lock()
		if answer := p.waiting[m.ID]; answer != nil {
			answer <- m.message
			delete(p.waiting, m.ID)
		}
		if fault := faultOf(m.Method, m.Params); fault != "" {
			p.faults = append(p.faults, fault)
		}
		p.mu.Unlock()
	}
}

// faultOf is what an event says that should not have happened.
func faultOf(method string, with []byte) string {
	var e struct {
		Type    string                                    `json:"type"`
		Args    []struct{ Value, Description any }        `json:"args"`
		Entry   struct{ Source, Level, Text, URL string } `json:"entry"`
		Details struct {
			Text      string                       `json:"text"`
			Exception struct{ Description string } `json:"exception"`
		} `json:"exceptionDetails"`
	}
	if json.Unmarshal(with, &e) != nil {
		return ""
	}
	switch {
	case method == "Runtime.exceptionThrown":
		return "exception: " + e.Details.Text + " " + e.Details.Exception.Description
	case method == "Runtime.consoleAPICalled" && (e.Type == "error" || e.Type == "warning"):
		return fmt.Sprintf("console: %v", e.Args)
	case method == "Log.entryAdded" && (e.Entry.Level == "error" || e.Entry.Level == "warning"):
		return "log: " + e.Entry.Source + ": " + e.Entry.Text + " " + e.Entry.URL
	}
	return ""
}

// takeFaults is what has gone wrong since the last call.
func (p *page) takeFaults() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	faults := p.faults
	p.faults = nil
	return faults
}

// eval is the value of a JavaScript expression, of which a promise is awaited.
func eval[T any](p *page, expression string) (T, error) {
	var answer struct {
		Result struct {
			Value T `json:"value"`
		} `json:"result"`
		Exception *struct {
			Text      string                       `json:"text"`
			Exception struct{ Description string } `json:"exception"`
		} `json:"exceptionDetails"`
	}
	err := p.call("Runtime.evaluate", params{"expression": expression, "awaitPromise": true, "returnByValue": true}, &answer)
	if err == nil && answer.Exception != nil {
		err = fmt.Errorf("evaluating %s: %s %s", expression, answer.Exception.Text, answer.Exception.Exception.Description)
	}
	return answer.Result.Value, err
}

// wait waits until an expression is true. While a page is being loaded it may well fail.
func (p *page) wait(what, expression string) error {
	var last error
	err := until(p.ctx, what, func() (done bool, _ error) {
		done, last = eval[bool](p, expression)
		return done, nil
	})
	return errors.Join(err, last)
}

// press presses keys, one after the other.
func (p *page) press(keys ...string) error {
	for _, key := range keys {
		down := params{"type": "keyDown", "key": key}
		if len(key) == 1 {
			down["text"] = key
		}
		switch key {
		case "Enter":
			down["text"] = "\r"
		case "Escape":
			down["windowsVirtualKeyCode"] = 27 // what closes a dialog goes by the code
		}
		if err := p.call("Input.dispatchKeyEvent", down, nil); err != nil {
			return err
		}
		if err := p.call("Input.dispatchKeyEvent", params{"type": "keyUp", "key": key}, nil); err != nil {
			return err
		}
	}
	return nil
}

// look sets the size of the window and the colours that the system is said to have.
func (p *page) look(width, height int, colours string) error {
	return errors.Join(
		p.call("Emulation.setDeviceMetricsOverride", params{"width": width, "height": height, "deviceScaleFactor": 1, "mobile": false}, nil),
		p.call("Emulation.setEmulatedMedia", params{"features": []params{{"name": "prefers-color-scheme", "value": colours}}}, nil))
}

// shoot writes a screenshot.
func (p *page) shoot(file string) error {
	// The picture is taken of what has been drawn, and so after a frame.
	if _, err := eval[any](p, `new Promise((f) => requestAnimationFrame(() => requestAnimationFrame(f)))`); err != nil {
		return err
	}
	var shot struct{ Data string }
	if err := p.call("Page.captureScreenshot", params{"format": "png"}, &shot); err != nil {
		return err
	}
	png, err := base64.StdEncoding.DecodeString(shot.Data)
	if err != nil {
		return fmt.Errorf("decoding a screenshot: %w", err)
	}
	return os.WriteFile(file, png, 0o644)
}

// until asks again and again until the answer is true.
func until(ctx context.Context, what string, ok func() (bool, error)) error {
	end := time.After(patience)
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for {
		if done, err := ok(); done || err != nil {
			return err
		}
		select {
		case <-tick.C:
		case <-end:
			return fmt.Errorf("waited in vain for %s", what)
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}
