package daemon

import (
	"fmt"
	"io"
	"log/slog"
	"net"
	"strconv"

	"github.com/spf13/cobra"
)

// Flags are the flags that every daemon has.
type Flags struct {
	Insecure            bool
	logFormat, logLevel string
}

// Register adds the flags to cmd. insecure is the help text of --insecure.
func (f *Flags) Register(cmd *cobra.Command, insecure string) {
	fs := cmd.Flags()
	fs.BoolVar(&f.Insecure, "insecure", false, insecure)
	fs.StringVar(&f.logFormat, "log-format", "text", "`FORMAT` of the log on stderr: text or json")
	fs.StringVar(&f.logLevel, "log-level", "info", "least `LEVEL` to log: debug, info, warn or error")
}

// Open listens at addr, the value of the flag called flag. Anybody who can reach a
// listener off loopback can read what passes through it, as long as it has no TLS,
// so that has to be asked for.
func (f *Flags) Open(flag, addr string) (net.Listener, error) {
	tcp, err := net.ResolveTCPAddr("tcp", addr)
	if err != nil {
		return nil, Usagef("--%s %s is not host:port: %w", flag, addr, err)
	}
	if !tcp.IP.IsLoopback() && !f.Insecure {
		return nil, Usagef("--%s %s is reachable from other machines and has no TLS: listen on 127.0.0.1, or add --insecure where something in front encrypts and admits", flag, addr)
	}
	l, err := net.ListenTCP("tcp", tcp)
	if err != nil {
		return nil, fmt.Errorf("--%s %s: %w: choose another address", flag, addr, err)
	}
	return l, nil
}

// CheckAddress returns what keeps addr from being the address of a control plane, a host
// and the number of a port.
func CheckAddress(addr string) error {
	_, port, err := net.SplitHostPort(addr)
	if n, perr := strconv.ParseUint(port, 10, 16); err != nil || perr != nil || n == 0 {
		return fmt.Errorf("%q is not host:port, such as 127.0.0.1:7700", addr)
	}
	return nil
}

// Logger returns a logger that writes to w as the flags say.
func (f *Flags) Logger(w io.Writer) (*slog.Logger, error) {
	var level slog.Level
	if err := level.UnmarshalText([]byte(f.logLevel)); err != nil {
		return nil, Usagef("--log-level %s is none of debug, info, warn, error", f.logLevel)
	}
	options := &slog.HandlerOptions{Level: level}
	switch f.logFormat {
	case "text":
		return slog.New(slog.NewTextHandler(w, options)), nil
	case "json":
		return slog.New(slog.NewJSONHandler(w, options)), nil
	}
	return nil, Usagef("--log-format %s is neither text nor json", f.logFormat)
}
