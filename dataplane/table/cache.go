package table

import (
	"strconv"
	"time"

	irv1 "github.com/bindery-dev/bindery/proto/bindery/ir/v1"
)

// A Cache is for how long an answer may be kept, and by whom. The zero Cache is for
// everyone, and for no time.
type Cache struct {
	TTL     time.Duration
	Private bool // by who asked for it, and nobody else

	timed bool // somebody has said how long
}

// AppendMembers appends the members of a result that say so, and a comma before each.
func (c Cache) AppendMembers(dst []byte) []byte {
	dst = strconv.AppendInt(append(dst, `,"ttlMs":`...), c.TTL.Milliseconds(), 10)
	return append(append(append(dst, `,"cacheScope":"`...), c.Scope()...), '"')
}

// Scope returns MCP's word for who may keep it.
func (c Cache) Scope() string {
	if c.Private {
		return "private"
	}
	return "public"
}

// narrowed returns c as another one who has a say, nil for nothing, narrows it: the
// shortest time holds, and private.
func (c Cache) narrowed(source *irv1.Cache) Cache {
	if ttl := source.GetTtl(); ttl != nil && (!c.timed || ttl.AsDuration() < c.TTL) {
		c.TTL, c.timed = ttl.AsDuration(), true
	}
	c.Private = c.Private || source.GetScope() == irv1.CacheScope_CACHE_SCOPE_PRIVATE
	return c
}

// Caching is for how long the lists of an endpoint, and what it says of itself, may be
// kept.
type Caching struct {
	Tools, Resources, Templates, Prompts, Discover Cache
}

// narrowed is [Cache.narrowed] for all of them.
func (c Caching) narrowed(source *irv1.Caching) Caching {
	return Caching{
		Tools:     c.Tools.narrowed(source.GetTools()),
		Resources: c.Resources.narrowed(source.GetResources()),
		Templates: c.Templates.narrowed(source.GetTemplates()),
		Prompts:   c.Prompts.narrowed(source.GetPrompts()),
		Discover:  c.Discover.narrowed(source.GetDiscover()),
	}
}

// newReadCache returns what source, nil for nothing, says of what is read. What comes from
// a tool is for who asked, unless source says otherwise: a node does not know what an
// upstream makes of it.
func newReadCache(source *irv1.Cache, fromTool bool) Cache {
	c := Cache{}.narrowed(source)
	c.Private = c.Private || fromTool && source.GetScope() == irv1.CacheScope_CACHE_SCOPE_UNSPECIFIED
	return c
}
