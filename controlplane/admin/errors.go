package admin

import (
	"errors"
	"fmt"
	"strings"

	"github.com/bindery-dev/bindery/controlplane/store"
	adminv1 "github.com/bindery-dev/bindery/proto/bindery/admin/v1"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

// This file holds what operators are refused with, side by side.

func errGroup(err error) error {
	return status.Errorf(codes.InvalidArgument, "group %v", err)
}

func errMoved(group string, at, expected uint64) error {
	return status.Errorf(codes.Aborted, "group %q is at revision %d, not at %d: somebody else changed it; look at what they did and plan again", group, at, expected)
}

func errModule(group, is, want string) error {
	return status.Errorf(codes.FailedPrecondition, "group %q runs module %s, these sources are module %s: name another group, or use --replace-module", group, is, want)
}

func errTags(group string, is, want []string) error {
	return status.Errorf(codes.FailedPrecondition, "group %q is compiled with %s, these sources with %s: use the same tags, or --change-tags", group, tags(is), tags(want))
}

func tags(list []string) string {
	if len(list) == 0 {
		return "no tags"
	}
	return "-t " + strings.Join(list, " -t ")
}

func errFed(group, dir string) error {
	return status.Errorf(codes.FailedPrecondition, "group %q is fed by the directory %s of the control plane: change the files there, or use --force to override them until they change", group, dir)
}

func errSuperseded(r *adminv1.Revision, by uint64) error {
	return status.Errorf(codes.Aborted, "revision %d of group %q was replaced by revision %d before every node had answered: see bindery nodes", r.GetGeneration().GetNumber(), r.GetGroup(), by)
}

func errStopping(r *adminv1.Revision) error {
	return status.Errorf(codes.Internal, "the control plane is stopping: revision %d of group %q is stored, and goes to its nodes when one is up again", r.GetGeneration().GetNumber(), r.GetGroup())
}

func errNoRevision(group string) error {
	return status.Errorf(codes.FailedPrecondition, "group %q has no revision: apply one first", group)
}

func errNothingEarlier(group string, at uint64) error {
	return status.Errorf(codes.FailedPrecondition, "group %q has no revision before %d with another bundle: name one, see bindery revisions", group, at)
}

func errLastNumber(group string) error {
	return status.Errorf(codes.ResourceExhausted, "group %q is at the last number that there is: begin with an empty data directory and apply again", group)
}

func errCompiler(err error) error {
	return status.Errorf(codes.Internal, "the sources could not be compiled: %v", err)
}

// errRead is for a store that cannot be read, or does not have what was asked for.
func errRead(err error) error {
	if errors.Is(err, store.ErrNotFound) {
		return status.Error(codes.NotFound, strings.TrimSuffix(err.Error(), ": "+store.ErrNotFound.Error()))
	}
	return status.Errorf(codes.Internal, "the store cannot be read: %v", err)
}

// errWrite is for a revision that could not be stored.
func errWrite(group string, err error) error {
	if errors.Is(err, store.ErrConflict) {
		return status.Errorf(codes.Aborted, "%v: somebody else changed the group; try again", err)
	}
	if errors.Is(err, store.ErrDamaged) {
		return status.Errorf(codes.FailedPrecondition, "no revision was stored and group %q stays as it is: %v", group, err)
	}
	return status.Errorf(codes.Internal, "no revision was stored and group %q stays as it is: %v: look at the space and the rights of the control plane's data directory, then try again", group, err)
}

func errLimit(what string, limit int) error {
	return status.Errorf(codes.InvalidArgument, "the sources have more than %d %s: split the module", limit, what)
}

func errRequest(format string, args ...any) error {
	return status.Error(codes.InvalidArgument, fmt.Sprintf(format, args...))
}
