package controlplane

import (
	"context"
	"log/slog"
	"runtime/debug"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

// recovering ends the one request that panicked, where gRPC would let it end the
// process: a mistake of ours that one client can reach must not cut off all others.
func recovering(log *slog.Logger) []grpc.ServerOption {
	caught := func(method string, err *error) {
		if r := recover(); r != nil {
			log.Error("a request panicked", "method", method, "panic", r, "stack", string(debug.Stack()))
			*err = status.Error(codes.Internal, "the control plane made a mistake: look at its log and report it")
		}
	}
	return []grpc.ServerOption{
		grpc.UnaryInterceptor(func(ctx context.Context, req any, info *grpc.UnaryServerInfo, next grpc.UnaryHandler) (_ any, err error) {
			defer caught(info.FullMethod, &err)
			return next(ctx, req)
		}),
		grpc.StreamInterceptor(func(srv any, s grpc.ServerStream, info *grpc.StreamServerInfo, next grpc.StreamHandler) (err error) {
			defer caught(info.FullMethod, &err)
			return next(srv, s)
		}),
	}
}
