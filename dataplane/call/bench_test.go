package call_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/bindery-dev/bindery/dataplane/call"
)

// BenchmarkDo is the cost of a call without the network: a 2 KB body both ways.
func BenchmarkDo(b *testing.B) {
	body := []byte(`{"items":[` + strings.Repeat(`{"id":"b1","title":"A book","copies":12},`, 50) + `{}]}`)
	reader := func(*http.Request) (*http.Response, error) {
		return &http.Response{StatusCode: 200, ContentLength: int64(len(body)), Header: http.Header{}, Body: io.NopCloser(bytes.NewReader(body))}, nil
	}
	endpoint := build(b, library("http://library.example/v1"), transport(reader)).Endpoint("/mcp")
	tags := strings.Repeat(`{"name":"some tag"},`, 100) + `{"name":"last"}`
	for _, bb := range []struct{ tool, args string }{
		{"get_book", getBook},
		{"add_book", fmt.Sprintf(`{"meta":{"version":"v1","key":"k-1","trace":"123e4567-e89b-42d3-a456-426614174000"},"payload":{"title":"x","copies":1,"tags":[%s]}}`, tags)},
	} {
		tool, args := endpoint.Tool(bb.tool), []byte(bb.args)
		b.Run(bb.tool, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if o := call.Do(context.Background(), tool, call.Request{Arguments: args}); o.Class != call.OK {
					b.Fatal(show(o.Error))
				}
			}
		})
	}
}
