package main

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"sync"
	"time"
)

// between is how long an author looks at what a save has become before the next.
const between = 100 * time.Millisecond

// patience is how long a change may take to be served before that counts as lost.
const patience = 20 * time.Second

func reload(ctx context.Context, args []string) error {
	var reloads, saves int
	flags := flag.NewFlagSet("reload", flag.ContinueOnError)
	flags.IntVar(&reloads, "reloads", 1000, "`N` bundles to replace under load")
	flags.IntVar(&saves, "saves", 50, "`N` edits to save under bindery dev")
	return onField(ctx, flags, args, func(f *field) error { return measureReloads(ctx, f, reloads, saves) })
}

func measureReloads(ctx context.Context, f *field, reloads, saves int) error {
	node, err := f.node(ctx)
	if err != nil {
		return err
	}
	progress(fmt.Sprintf("replacing %d bundles under load", reloads))
	r, err := f.replaceUnderLoad(ctx, node, reloads)
	if err != nil {
		return err
	}
	fmt.Printf("%d reloads, %d calls, 0 failed; replaced to served: p50 %v, p99 %v\n", reloads, r.calls, r.served.quantile(.5), r.served.quantile(.99))
	progress(fmt.Sprintf("saving %d edits", saves))
	saved, err := f.saveUnderDev(ctx, saves)
	if err != nil {
		return err
	}
	fmt.Printf("%d saves under bindery dev; saved to served: p50 %v, p99 %v\n", saves, saved.quantile(.5), saved.quantile(.99))
	return nil
}

// reloaded is what a node did while its bundle was replaced.
type reloaded struct {
	calls  int
	served sample // from the replacement to the first answer by the new bundle
}

// replaceUnderLoad replaces the node's bundle n times while clients call it. A call
// that fails, or is answered by neither bundle, is the error.
func (f *field) replaceUnderLoad(ctx context.Context, node *process, n int) (reloaded, error) {
	bundles, err := f.twoBundles(ctx)
	if err != nil {
		return reloaded{}, err
	}
	t, err := f.eitherBundle(node, bundles)
	if err != nil {
		return reloaded{}, err
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var (
		wg    sync.WaitGroup
		under sample
		lost  error
	)
	wg.Go(func() { under, lost = load(ctx, t, 8, time.Hour) })
	r := reloaded{}
	for i := range n {
		took, err := f.swap(t, bundles[i%2], t.want[i%2])
		if err != nil {
			cancel()
			wg.Wait()
			return r, errors.Join(err, lost)
		}
		r.served.latency = append(r.served.latency, took)
	}
	cancel()
	wg.Wait()
	r.calls = len(under.latency)
	slices.Sort(r.served.latency)
	return r, lost
}

// twoBundles returns the module compiled as it is and with another description.
func (f *field) twoBundles(ctx context.Context) ([2][]byte, error) {
	var bundles [2][]byte
	for i := range bundles {
		if err := f.edit(i); err != nil {
			return bundles, err
		}
		var err error
		if bundles[i], err = compileModule(ctx, f.module(), "http://"+f.upstream.addr); err != nil {
			return bundles, err
		}
	}
	return bundles, nil
}

// edit saves version i of the module: another header value that goes upstream.
func (f *field) edit(i int) error {
	path := filepath.Join(f.module(), "checkout", "bench.cue")
	return replace(path, fmt.Appendf(nil, "package bindings\n\nbindings: checkout: upstream: headers: \"X-Bench\": \"v%d\"\n", i))
}

// eitherBundle returns the target whose answers may come from both bundles.
func (f *field) eitherBundle(node *process, bundles [2][]byte) (*target, error) {
	t, err := mcpTarget(node, eras()[0])
	if err != nil {
		return nil, err
	}
	var want [][]byte
	for _, b := range bundles {
		was := t.want[0]
		if err := replace(f.bundle, b); err != nil {
			return nil, err
		}
		if t, err = changed(node, was); err != nil {
			return nil, err
		}
		want = append(want, t.want[0])
	}
	t.want = want
	return t, nil
}

// changed waits until the node's answer is not was.
func changed(node *process, was []byte) (*target, error) {
	for deadline := time.Now().Add(patience); time.Now().Before(deadline); time.Sleep(time.Millisecond) {
		t, err := mcpTarget(node, eras()[0])
		if err != nil {
			return nil, err
		}
		if !bytes.Equal(t.want[0], was) {
			return t, nil
		}
	}
	return nil, errors.New("the change is not served")
}

// swap replaces the bundle and returns how long it took until want was the answer.
func (f *field) swap(t *target, bundle, want []byte) (time.Duration, error) {
	c, err := dial(t)
	if err != nil {
		return 0, err
	}
	defer c.Close()
	began := time.Now()
	if err := replace(f.bundle, bundle); err != nil {
		return 0, err
	}
	return c.until(began, want)
}

// until asks until the answer is want.
func (c *client) until(began time.Time, want []byte) (time.Duration, error) {
	for time.Since(began) < patience {
		got, err := c.ask()
		if err != nil {
			return 0, err
		}
		if bytes.Equal(got, want) {
			return time.Since(began), nil
		}
	}
	return 0, errors.New("the change is not served")
}

// saveUnderDev edits the module n times under bindery dev.
func (f *field) saveUnderDev(ctx context.Context, n int) (sample, error) {
	if err := f.edit(0); err != nil {
		return sample{}, err
	}
	dev, err := f.dev(ctx)
	if err != nil {
		return sample{}, err
	}
	var saved sample
	for i := range n {
		time.Sleep(between)
		t, err := mcpTarget(dev, eras()[0])
		if err != nil {
			return saved, err
		}
		was := t.want[0]
		t.want = nil // each save has a digest of its own
		began := time.Now()
		if err := f.edit(i + 1); err != nil {
			return saved, err
		}
		took, err := untilOther(t, began, was)
		if err != nil {
			return saved, err
		}
		saved.latency = append(saved.latency, took)
	}
	slices.Sort(saved.latency)
	return saved, nil
}

// untilOther asks until the answer is not was: every millisecond, since to ask without a
// pause would take the processors from what compiles.
func untilOther(t *target, began time.Time, was []byte) (time.Duration, error) {
	c, err := dial(t)
	if err != nil {
		return 0, err
	}
	defer c.Close()
	for ; time.Since(began) < patience; time.Sleep(time.Millisecond) {
		got, err := c.ask()
		if err != nil {
			return 0, err
		}
		if !bytes.Equal(got, was) {
			return time.Since(began), nil
		}
	}
	return 0, errors.New("the change is not served")
}

// dev starts bindery dev on the module.
func (f *field) dev(ctx context.Context) (*process, error) {
	log, err := os.Create(filepath.Join(f.dir, "dev.log"))
	if err != nil {
		return nil, err
	}
	defer log.Close()
	addr, err := freeAddr()
	if err != nil {
		return nil, err
	}
	url := "http://" + f.upstream.addr
	p := &process{addr: addr, cmd: exec.CommandContext(ctx, filepath.Join(f.dir, "bindery"), "dev", f.module(), "--listen", addr,
		"--upstream", "checkout="+url, "--upstream", "delegate_payment="+url)}
	p.cmd.Env = append(os.Environ(), "BINDERY_SECRET_MERCHANT_TOKEN="+token, "BINDERY_SECRET_PSP_TOKEN="+token)
	p.cmd.Stdout, p.cmd.Stderr = log, log
	if err := p.cmd.Start(); err != nil {
		return nil, err
	}
	f.processes = append(f.processes, p)
	for deadline := time.Now().Add(patience); time.Now().Before(deadline); time.Sleep(5 * time.Millisecond) {
		if _, err := mcpTarget(p, eras()[0]); err == nil {
			return p, nil
		}
	}
	data, _ := os.ReadFile(log.Name()) // what there is of it
	return nil, fmt.Errorf("bindery dev does not serve:\n%s", data)
}
