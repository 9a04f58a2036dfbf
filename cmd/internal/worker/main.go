package worker

import (
	"context"
	"fmt"
	"io"
	"os"
	"runtime/debug"

	"google.golang.org/protobuf/proto"

	"github.com/bindery-dev/bindery/cue/compile"
	sourcev1 "github.com/bindery-dev/bindery/proto/bindery/source/v1"
)

// Main is the child: it limits itself, reads sources on stdin, writes what they
// compile to on stdout and returns the exit code of the process.
func Main() int {
	stdout := os.Stdout
	os.Stdout = os.Stderr // so that nothing but the result is written there
	if err := work(os.Stdin, stdout); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}

func work(in io.Reader, out io.Writer) error {
	debug.SetMaxStack(maxStack)
	debug.SetMemoryLimit(maxMemory / 4 * 3) // collect harder before the limit ends it all
	PrepareHeap()
	if err := limit(); err != nil {
		return fmt.Errorf("limit the child: %w", err)
	}
	data, err := io.ReadAll(io.LimitReader(in, maxSources))
	if err != nil {
		return fmt.Errorf("read sources: %w", err)
	}
	s := &sourcev1.Sources{}
	if err := proto.Unmarshal(data, s); err != nil {
		return fmt.Errorf("read sources: %w", err)
	}
	compiled, err := compile.Module(context.Background(), s)
	if err != nil {
		return err
	}
	if data, err = proto.Marshal(compiled); err != nil {
		return fmt.Errorf("write the compiled module: %w", err)
	}
	_, err = out.Write(framed(data))
	return err
}
