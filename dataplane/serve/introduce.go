package serve

import (
	"context"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/bindery-dev/bindery/dataplane/locale"
	"github.com/bindery-dev/bindery/dataplane/message"
	"github.com/bindery-dev/bindery/dataplane/rawjson"
	"github.com/bindery-dev/bindery/dataplane/table"
	irv1 "github.com/bindery-dev/bindery/proto/bindery/ir/v1"
)

//lint:file-ignore SA1019 the older revisions of MCP have what the newest deprecates

// illustrated is the first protocol revision with icons.
const illustrated = "2025-11-25"

// introduce is the middleware that tells a client which meets the endpoint what the
// table has to say of that. Other answers, which name the endpoint, too, have no icons:
// they may be long.
func (e *endpoint) introduce(next mcp.MethodHandler) mcp.MethodHandler {
	return func(ctx context.Context, method string, req mcp.Request) (mcp.Result, error) {
		res, err := next(ctx, method, req)
		switch met := res.(type) {
		case *mcp.InitializeResult:
			e.negotiate(met, req)
			e.limit(met.Capabilities, e.current(), met.ProtocolVersion)
			met.Capabilities.Resources.Subscribe = keeps(ctx, req)
			if !keeps(ctx, req) {
				met.Capabilities.Logging = nil
			}
			if met.ProtocolVersion >= illustrated {
				met.ServerInfo = e.introduced(met.ServerInfo, e.current())
			}
		case *mcp.DiscoverResult:
			e.negotiate(met, req)
			e.limit(met.Capabilities, e.current(), message.Modern)
			setMeta(met, mcp.MetaKeyServerInfo, e.introduced(e.info, e.current()))
			if t := e.current(); t != nil {
				cache := e.orNone(t).Caching.Discover
				met.TTLMs, met.CacheScope = int(cache.TTL.Milliseconds()), cache.Scope()
			}
		}
		return res, err
	}
}

// negotiate tells a client that names the language it wants which one it gets.
func (e *endpoint) negotiate(met mcp.Result, req mcp.Request) {
	t := e.current()
	if t == nil || e.at(t) == nil {
		return
	}
	if tag := e.at(t).Locales.Of(rawMeta(greeting(req))); tag != "" {
		setMeta(met, locale.Key, tag)
	}
}

// greeting returns the "_meta" of the request with which a client meets an endpoint.
func greeting(req mcp.Request) mcp.Meta {
	switch req := req.(type) {
	case *mcp.ServerRequest[*mcp.InitializeParams]:
		if req.Params != nil {
			return req.Params.Meta
		}
	case *mcp.ServerRequest[*mcp.DiscoverParams]:
		if req.Params != nil {
			return req.Params.Meta
		}
	}
	return nil
}

// rawMeta returns the "_meta" of a request, which the SDK made meta of, as it was
// written; nil for none.
func rawMeta(meta map[string]any) rawjson.Value { return message.Exact(meta).Member("_meta") }

// introduced returns info with the icons that t, nil for no table yet, has for the
// endpoint.
func (e *endpoint) introduced(info *mcp.Implementation, t *table.Table) *mcp.Implementation {
	if t == nil {
		return info
	}
	at := e.at(t)
	if at == nil || len(at.Icons) == 0 {
		return info
	}
	whole := *info
	for _, i := range at.Icons {
		whole.Icons = append(whole.Icons, mcp.Icon{Source: i.GetSrc(), MIMEType: i.GetMediaType(), Sizes: i.GetSizes(), Theme: themeOf(i)})
	}
	return &whole
}

func themeOf(i *irv1.Icon) mcp.IconTheme {
	switch i.GetTheme() {
	case irv1.IconTheme_ICON_THEME_LIGHT:
		return mcp.IconThemeLight
	case irv1.IconTheme_ICON_THEME_DARK:
		return mcp.IconThemeDark
	}
	return ""
}

// setMeta sets a member of the "_meta" of a result.
func setMeta(res mcp.Result, key string, value any) {
	meta := res.GetMeta()
	if meta == nil {
		meta = map[string]any{}
	}
	meta[key] = value
	res.SetMeta(meta)
}
