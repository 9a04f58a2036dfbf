package admin

import (
	"cmp"
	"errors"
	"io"
	"io/fs"
	"slices"
	"time"

	discoveryv1 "github.com/bindery-dev/bindery/proto/bindery/discovery/v1"

	adminv1 "github.com/bindery-dev/bindery/proto/bindery/admin/v1"
	sourcev1 "github.com/bindery-dev/bindery/proto/bindery/source/v1"
	"google.golang.org/grpc"
	"google.golang.org/protobuf/types/known/durationpb"
)

// Limits of one revision.
const (
	maxSources = 32 << 20 // bytes of all files and of their paths
	maxFiles   = 5_000
	maxPath    = 4 << 10  // bytes of the path of one
	maxText    = 16 << 10 // bytes of message and author, and of all tags
)

// defaultTimeout is how long the wait for nodes may be, unless told.
const defaultTimeout = time.Minute

// Apply compiles sources, stores a revision and rolls it out.
func (s *Server) Apply(stream grpc.BidiStreamingServer[adminv1.ApplyRequest, adminv1.ApplyResponse]) error {
	start, err := receiveStart(stream)
	if err != nil {
		return err
	}
	files, err := receiveFiles(stream)
	if err != nil {
		return err
	}
	p, err := s.publish(stream.Context(), change{
		group: start.GetGroup(), author: start.GetAuthor(), message: start.GetMessage(),
		sources:  &sourcev1.Sources{Files: files, Tags: start.GetTags()},
		expected: start.Expected, dryRun: start.GetDryRun(),
		replaceModule: start.GetReplaceModule(), changeTags: start.GetChangeTags(), force: start.GetForce(),
	}, func(c *adminv1.Compiled) error {
		return stream.Send(&adminv1.ApplyResponse{Kind: &adminv1.ApplyResponse_Compiled{Compiled: c}})
	})
	if err != nil {
		return err
	}
	o, err := s.outcome(stream.Context(), p.result, p.revision, start.GetNoWait(), start.GetTimeout(), func(r *adminv1.Rollout) error {
		return stream.Send(&adminv1.ApplyResponse{Kind: &adminv1.ApplyResponse_Rollout{Rollout: r}})
	})
	if err != nil {
		return err
	}
	if p.result == adminv1.Result_RESULT_INVALID {
		o.Diagnostics = p.compiled.GetDiagnostics()
	}
	return stream.Send(&adminv1.ApplyResponse{Kind: &adminv1.ApplyResponse_Outcome{Outcome: o}})
}

type applyStream interface {
	Recv() (*adminv1.ApplyRequest, error)
}

func receiveStart(stream applyStream) (*adminv1.ApplyStart, error) {
	m, err := stream.Recv()
	if err != nil {
		return nil, err
	}
	start := m.GetStart()
	if start == nil {
		return nil, errRequest("the first message must be the start")
	}
	size := len(start.GetMessage()) + len(start.GetAuthor())
	for _, t := range start.GetTags() {
		size += len(t)
	}
	if size > maxText {
		return nil, errRequest("message, author and tags have more than %d bytes", maxText)
	}
	return start, checkWait(start.GetGroup(), start.GetTimeout())
}

// checkWait checks what Apply and Rollback have in common.
func checkWait(group string, timeout *durationpb.Duration) error {
	if err := discoveryv1.CheckName(group); err != nil {
		return errGroup(err)
	}
	if timeout.AsDuration() < 0 {
		return errRequest("timeout %s is negative", timeout.AsDuration())
	}
	return nil
}

// receiveFiles reads the files, which come in parts, and returns them by path.
func receiveFiles(stream applyStream) ([]*sourcev1.File, error) {
	var files []*sourcev1.File
	size := 0
	for {
		m, err := stream.Recv()
		if errors.Is(err, io.EOF) {
			return sorted(files)
		} else if err != nil {
			return nil, err
		}
		part := m.GetFile()
		if part == nil {
			return nil, errRequest("the start is followed by files and nothing else")
		}
		if size += len(part.GetData()); size > maxSources {
			return nil, errLimit("bytes", maxSources)
		}
		if last := len(files) - 1; last >= 0 && files[last].GetPath() == part.GetPath() {
			files[last].Data = append(files[last].Data, part.GetData()...)
			continue
		}
		if len(files) == maxFiles {
			return nil, errLimit("files", maxFiles)
		}
		if len(part.GetPath()) > maxPath {
			return nil, errRequest("path %.200q... has more than %d bytes", part.GetPath(), maxPath)
		}
		if size += len(part.GetPath()); size > maxSources {
			return nil, errLimit("bytes", maxSources)
		}
		if !fs.ValidPath(part.GetPath()) || part.GetPath() == "." {
			return nil, errRequest("%.200q is no path below the module root", part.GetPath())
		}
		files = append(files, &sourcev1.File{Path: part.GetPath(), Data: part.GetData()})
	}
}

func sorted(files []*sourcev1.File) ([]*sourcev1.File, error) {
	slices.SortFunc(files, func(a, b *sourcev1.File) int { return cmp.Compare(a.GetPath(), b.GetPath()) })
	for i := 1; i < len(files); i++ {
		if files[i].GetPath() == files[i-1].GetPath() {
			return nil, errRequest("file %q was sent twice", files[i].GetPath())
		}
	}
	if len(files) == 0 {
		return nil, errRequest("there are no sources: name a directory with a CUE module")
	}
	return files, nil
}
