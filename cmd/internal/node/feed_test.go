package node

import (
	"net"
	"net/http"
	"slices"
	"strings"
	"testing"

	"google.golang.org/grpc"

	"github.com/bindery-dev/bindery/dataplane/serve/librarytest"
	discoveryv1 "github.com/bindery-dev/bindery/proto/bindery/discovery/v1"
	irv1 "github.com/bindery-dev/bindery/proto/bindery/ir/v1"
)

// TestControlPlane has a control plane that pushes one generation: the node says who
// it is, serves what came and acknowledges it.
func TestControlPlane(t *testing.T) {
	plane := &oneGeneration{
		bundle: librarytest.Bundle(t, librarytest.Binding("127.0.0.1:9")),
		hello:  make(chan *discoveryv1.Hello, 1),
		answer: make(chan *discoveryv1.SyncRequest, 1),
	}
	steps := make(chan string, 20)
	n := start(t, Config{
		ControlPlane: []string{plane.serve(t)}, Group: "blue", ID: "node-1", Labels: map[string]string{"zone": "a"},
		Env: librarytest.Env, OnStep: func(step string) { steps <- step },
	})
	hello := wait(t, "the node says hello", plane.hello)
	if hello.GetNode() != "node-1" || hello.GetGroup() != "blue" || hello.GetLabels()["zone"] != "a" || hello.GetBoot() == "" ||
		hello.GetBuild() == "" || !slices.Contains(hello.GetIrLevels(), irv1.Level) || hello.GetHeld() != nil {
		t.Errorf("hello is %v", hello)
	}
	if ack := wait(t, "the node answers", plane.answer).GetAck(); ack.GetGeneration().GetNumber() != 7 {
		t.Errorf("ack is %v", ack)
	}
	n.until(t, "/readyz", http.StatusOK, "ready")
	n.until(t, "/metrics", http.StatusOK, "bindery_node_generation 7\n")
	n.until(t, "/metrics", http.StatusOK, "bindery_node_control_plane_connected 1\n")
	var seen []string
	for len(seen) == 0 || seen[len(seen)-1] != "acked" {
		seen = append(seen, wait(t, "a step", steps))
	}
	if got := strings.Join(seen, " "); got != "connected received validated swapping swapped acked" {
		t.Errorf("steps are %s", got)
	}
	n.stop(t)
}

// oneGeneration is a control plane that has one generation for everybody.
type oneGeneration struct {
	discoveryv1.UnimplementedDiscoveryServiceServer
	bundle *irv1.Bundle
	hello  chan *discoveryv1.Hello
	answer chan *discoveryv1.SyncRequest
}

// serve returns the address that the control plane is at.
func (p *oneGeneration) serve(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := grpc.NewServer()
	discoveryv1.RegisterDiscoveryServiceServer(s, p)
	go func() { _ = s.Serve(l) }() // ends with Stop
	t.Cleanup(s.Stop)
	return l.Addr().String()
}

func (p *oneGeneration) Sync(stream grpc.BidiStreamingServer[discoveryv1.SyncRequest, discoveryv1.SyncResponse]) error {
	first, err := stream.Recv()
	if err != nil {
		return err
	}
	p.hello <- first.GetHello()
	digest := irv1.DigestOf(p.bundle.GetManifest())
	push := &discoveryv1.Push{
		Generation: &discoveryv1.Generation{Epoch: 1, Number: 7, Digest: digest[:]},
		Manifest:   p.bundle.GetManifest(),
		Blobs:      uint32(len(p.bundle.GetBlobs())),
	}
	if err := stream.Send(&discoveryv1.SyncResponse{Kind: &discoveryv1.SyncResponse_Push{Push: push}}); err != nil {
		return err
	}
	for _, data := range p.bundle.GetBlobs() {
		blob := &discoveryv1.Blob{Data: data}
		if err := stream.Send(&discoveryv1.SyncResponse{Kind: &discoveryv1.SyncResponse_Blob{Blob: blob}}); err != nil {
			return err
		}
	}
	answer, err := stream.Recv()
	if err != nil {
		return err
	}
	p.answer <- answer
	<-stream.Context().Done()
	return nil
}
