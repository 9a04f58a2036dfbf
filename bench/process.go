package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// childArg is the first argument of this program when it is one of the servers that
// are compared.
const childArg = "serve"

// A process is a server in a process of its own, so that what it takes can be told
// from what the others take.
type process struct {
	cmd   *exec.Cmd
	addr  string // host:port
	admin string // host:port that has /metrics
	log   string // file; "" for servers of this program
}

// spawn starts one of this program's own servers.
func spawn(ctx context.Context, kind string, args ...string) (*process, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	p := &process{cmd: exec.CommandContext(ctx, self, append([]string{childArg, kind}, args...)...)}
	p.cmd.Stderr = os.Stderr
	out, err := p.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := p.cmd.Start(); err != nil {
		return nil, err
	}
	_, err = fmt.Fscanln(out, &p.addr, &p.admin)
	if err != nil {
		p.stop()
		return nil, fmt.Errorf("%s did not start: %w", kind, err)
	}
	return p, nil
}

// startNode starts binary, a bindery-node, with a bundle. Its log goes to a file.
func startNode(ctx context.Context, binary, bundle, dir string, args ...string) (*process, error) {
	args = append([]string{"--bundle", bundle, "--listen", "127.0.0.1:0", "--admin", "127.0.0.1:0", "--drain-delay", "0s"}, args...)
	return startDaemon(ctx, dir, binary, args...)
}

// startDaemon starts a bindery-node or a bindery-controlplane and waits until it is
// ready. Its log goes to a file in dir.
func startDaemon(ctx context.Context, dir, binary string, args ...string) (*process, error) {
	logFile, err := os.CreateTemp(dir, filepath.Base(binary)+"-*.log")
	if err != nil {
		return nil, err
	}
	defer logFile.Close()
	p := &process{cmd: exec.CommandContext(ctx, binary, append(args, "--log-format", "json")...), log: logFile.Name()}
	p.cmd.Stderr = logFile
	p.cmd.Env = append(os.Environ(), "BINDERY_SECRET_MERCHANT_TOKEN="+token, "BINDERY_SECRET_PSP_TOKEN="+token)
	if err := p.cmd.Start(); err != nil {
		return nil, err
	}
	if err := p.listening(); err != nil {
		p.stop()
		return nil, err
	}
	return p, nil
}

// A line is what is read of a daemon's log.
type line struct {
	Time       time.Time
	Msg        string
	MCP, Admin string // where a node serves
	Listen     string // where a control plane serves
	HTTP       string
	Revision   uint64
}

// logged returns the lines of the daemon's log whose message is msg.
func (p *process) logged(msg string) ([]line, error) {
	data, err := os.ReadFile(p.log)
	var found []line
	for raw := range bytes.Lines(data) {
		var l line
		if json.Unmarshal(raw, &l) == nil && l.Msg == msg {
			found = append(found, l)
		}
	}
	return found, err
}

// listening waits for the line of the daemon's log that says where it listens, and
// until it is ready.
func (p *process) listening() error {
	for deadline := time.Now().Add(20 * time.Second); time.Now().Before(deadline); time.Sleep(time.Millisecond) {
		serving, err := p.logged("serving")
		if err != nil {
			return err
		}
		if len(serving) == 0 {
			continue
		}
		p.addr, p.admin = serving[0].MCP+serving[0].Listen, serving[0].Admin+serving[0].HTTP
		if resp, err := http.Get("http://" + p.admin + "/readyz"); err == nil {
			resp.Body.Close()
			if resp.StatusCode == http.StatusOK {
				return nil
			}
		}
	}
	data, _ := os.ReadFile(p.log) // what there is of it
	return fmt.Errorf("%s is not ready:\n%s", filepath.Base(p.cmd.Path), data)
}

// stop ends the process and waits for it.
func (p *process) stop() {
	_ = p.cmd.Process.Signal(syscall.SIGTERM) // it may have ended
	_ = p.cmd.Wait()                          // its exit code says nothing that matters here
}

// taken is what a process has used so far.
type taken struct {
	cpu     time.Duration // user and system
	mallocs float64       // objects allocated
	bytes   float64       // bytes allocated
}

// usage returns what the process has taken since its start.
func (p *process) usage() (taken, error) {
	cpu, err := cpuOf(p.cmd.Process.Pid)
	if err != nil {
		return taken{}, err
	}
	m, err := p.metrics()
	return taken{cpu, m["go_memstats_mallocs_total"], m["go_memstats_alloc_bytes_total"]}, err
}

// tick is the unit of CPU times in /proc: USER_HZ, 100 a second on every Linux.
const tick = 10 * time.Millisecond

// cpuOf returns the CPU time of a process from /proc/PID/stat (proc(5)).
func cpuOf(pid int) (time.Duration, error) {
	if runtime.GOOS != "linux" {
		return 0, errors.New("CPU times are read from /proc, which only Linux has")
	}
	data, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "stat"))
	if err != nil {
		return 0, err
	}
	fields := strings.Fields(string(data[bytes.LastIndexByte(data, ')')+1:])) // from field 3 on
	if len(fields) < 13 {
		return 0, errors.New("/proc/PID/stat has too few fields")
	}
	var ticks time.Duration
	for _, f := range fields[11:13] {
		n, err := strconv.ParseInt(f, 10, 64)
		if err != nil {
			return 0, err
		}
		ticks += time.Duration(n)
	}
	return ticks * tick, nil
}

// metrics returns the metrics without labels of the process.
func (p *process) metrics() (map[string]float64, error) {
	resp, err := http.Get("http://" + p.admin + "/metrics")
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	m := map[string]float64{}
	lines := bufio.NewScanner(resp.Body)
	for lines.Scan() {
		name, value, _ := strings.Cut(lines.Text(), " ")
		if v, err := strconv.ParseFloat(value, 64); err == nil {
			m[name] = v
		}
	}
	return m, lines.Err()
}

// files returns how many files the process has open.
func (p *process) files() (int, error) {
	entries, err := os.ReadDir(filepath.Join("/proc", strconv.Itoa(p.cmd.Process.Pid), "fd"))
	return len(entries), err
}

// inDir parses the arguments of a subcommand and measures in a temporary directory.
func inDir(flags *flag.FlagSet, args []string, measure func(dir string) error) error {
	if err := flags.Parse(args); err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "bindery-bench-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	return measure(dir)
}

// built returns the command called name: the file that is given, or else that of this
// checkout, built in dir.
func built(ctx context.Context, dir, name, given string) (string, error) {
	if given != "" {
		return given, nil
	}
	progress("building")
	return filepath.Join(dir, name), build(ctx, dir, "./cmd/"+name)
}

// build builds commands of this module into dir.
func build(ctx context.Context, dir string, packages ...string) error {
	cmd := exec.CommandContext(ctx, "go", append([]string{"build", "-o", dir + "/"}, packages...)...)
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("go build: %w\n%s", err, out)
	}
	return nil
}

// announce tells the parent where a child serves and serves the child's metrics
// until ctx is done.
func announce(ctx context.Context, h http.Handler, metrics http.Handler, out io.Writer) error {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	admin, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	mux := http.NewServeMux()
	mux.Handle("/metrics", metrics)
	servers := []*http.Server{{Handler: h, ReadHeaderTimeout: 10 * time.Second}, {Handler: mux, ReadHeaderTimeout: 10 * time.Second}}
	context.AfterFunc(ctx, func() {
		for _, s := range servers {
			_ = s.Close() // the process ends
		}
	})
	go func() { _ = servers[1].Serve(admin) }()
	if _, err := fmt.Fprintln(out, l.Addr(), admin.Addr()); err != nil {
		return err
	}
	if err := servers[0].Serve(l); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}
