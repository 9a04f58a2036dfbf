package compile

import (
	"time"

	"google.golang.org/protobuf/types/known/durationpb"

	irv1 "github.com/bindery-dev/bindery/proto/bindery/ir/v1"
)

var cacheScopes = map[string]irv1.CacheScope{
	"public":  irv1.CacheScope_CACHE_SCOPE_PUBLIC,
	"private": irv1.CacheScope_CACHE_SCOPE_PRIVATE,
}

// caching returns what v says of the lists of an endpoint; nil for nothing.
func caching(v value) *irv1.Caching {
	c := &irv1.Caching{
		Tools:     cache(v.get("tools")),
		Resources: cache(v.get("resources")),
		Templates: cache(v.get("templates")),
		Prompts:   cache(v.get("prompts")),
		Discover:  cache(v.get("discover")),
	}
	if equal(c, &irv1.Caching{}) {
		return nil
	}
	return c
}

// cache returns what v says of how long an answer may be kept; nil for nothing.
func cache(v value) *irv1.Cache {
	c := &irv1.Cache{}
	if ttl := v.get("ttl"); ttl.exists() {
		c.Ttl = durationpb.New(time.Duration(ttl.number(0)))
	}
	if scope := v.get("scope"); scope.exists() {
		s := cacheScopes[scope.text()]
		c.Scope = &s
	}
	if equal(c, &irv1.Cache{}) {
		return nil
	}
	return c
}
