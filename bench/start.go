package main

import (
	"context"
	"flag"
	"fmt"
	"io/fs"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

func start(ctx context.Context, args []string) error {
	var n int
	flags := flag.NewFlagSet("start", flag.ContinueOnError)
	flags.IntVar(&n, "n", 20, "`N` starts of each")
	return onField(ctx, flags, args, func(f *field) error { return measureStarts(ctx, f, n) })
}

func measureStarts(ctx context.Context, f *field, n int) error {
	untested, err := f.untested()
	if err != nil {
		return err
	}
	var node, hand, vet, plain, bare sample
	for i := range n {
		progress(fmt.Sprintf("start %d of %d", i+1, n))
		for _, m := range []struct {
			into *sample
			once func(context.Context) (time.Duration, error)
		}{{&node, f.startNode}, {&hand, f.startByHand}, {&vet, f.command("vet", f.module())}, {&plain, f.command("vet", untested)}, {&bare, f.command("version")}} {
			took, err := m.once(ctx)
			if err != nil {
				return err
			}
			m.into.latency = append(m.into.latency, took)
		}
	}
	for _, s := range []*sample{&node, &hand, &vet, &plain, &bare} {
		slices.Sort(s.latency)
	}
	fmt.Printf("node with a bundle, to its first answer: p50 %v, p99 %v; %.2f x the server by hand (p50 %v)\n",
		node.quantile(.5), node.quantile(.99), float64(node.quantile(.5))/float64(hand.quantile(.5)), hand.quantile(.5))
	fmt.Printf("bindery vet of examples/acp, whole process: p50 %v, p99 %v; %.2f x bindery version (p50 %v)\n",
		vet.quantile(.5), vet.quantile(.99), float64(vet.quantile(.5))/float64(bare.quantile(.5)), bare.quantile(.5))
	fmt.Printf("the same without its tests: p50 %v, p99 %v\n", plain.quantile(.5), plain.quantile(.99))
	return nil
}

// untested writes the module without its tests and returns where.
func (f *field) untested() (string, error) {
	dir := filepath.Join(f.dir, "untested")
	if err := copyModule(dir); err != nil {
		return "", err
	}
	return dir, filepath.WalkDir(dir, func(path string, _ fs.DirEntry, err error) error {
		if err == nil && strings.HasSuffix(path, "_test.cue") {
			err = os.Remove(path)
		}
		return err
	})
}

// startNode starts a node and returns when it has answered a call.
func (f *field) startNode(ctx context.Context) (time.Duration, error) {
	listen, err := freeAddr()
	if err != nil {
		return 0, err
	}
	began := time.Now()
	cmd := exec.CommandContext(ctx, filepath.Join(f.dir, "bindery-node"), "--bundle", f.bundle, "--listen", listen, "--admin", "127.0.0.1:0", "--drain-delay", "0s")
	cmd.Env = append(os.Environ(), "BINDERY_SECRET_MERCHANT_TOKEN="+token, "BINDERY_SECRET_PSP_TOKEN="+token)
	if err := cmd.Start(); err != nil {
		return 0, err
	}
	p := &process{cmd: cmd, addr: listen}
	defer p.stop()
	return firstAnswer(p, began)
}

func (f *field) startByHand(ctx context.Context) (time.Duration, error) {
	began := time.Now()
	p, err := spawn(ctx, "sdk", "http://"+f.upstream.addr, f.bundle, filepath.Join(f.dir, "sdk.log"))
	if err != nil {
		return 0, err
	}
	defer p.stop()
	return firstAnswer(p, began)
}

// firstAnswer returns how long after began a server answers.
func firstAnswer(p *process, began time.Time) (time.Duration, error) {
	for {
		_, err := mcpTarget(p, eras()[0])
		if took := time.Since(began); err == nil || took > patience {
			return took, err
		}
		time.Sleep(200 * time.Microsecond)
	}
}

// command returns what runs bindery with args once and says how long that took.
func (f *field) command(args ...string) func(context.Context) (time.Duration, error) {
	return func(ctx context.Context) (time.Duration, error) {
		began := time.Now()
		cmd := exec.CommandContext(ctx, filepath.Join(f.dir, "bindery"), args...)
		if out, err := cmd.CombinedOutput(); err != nil {
			return 0, fmt.Errorf("bindery %s: %w\n%s", args[0], err, out)
		}
		return time.Since(began), nil
	}
}

// freeAddr returns an address that nothing listens at now.
func freeAddr() (string, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	defer l.Close()
	return l.Addr().String(), nil
}
