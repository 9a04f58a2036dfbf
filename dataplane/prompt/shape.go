package prompt

import (
	"encoding/base64"
	"slices"
	"strconv"
	"strings"

	"github.com/bindery-dev/bindery/dataplane/rawjson"
)

// A shape reports whether a value is as MCP has it. Objects have no other members than
// those that MCP names: what a client makes of others nobody knows.
type shape func(rawjson.Value) bool

// object is an object with all the members required, and perhaps others.
func object(required []string, members map[string]shape) shape {
	return func(v rawjson.Value) bool {
		if v.Kind() != rawjson.Object {
			return false
		}
		missing := len(required)
		for name, value := range v.Members() {
			text, _ := name.Text()
			if is := members[text]; is == nil || !is(value) {
				return false
			}
			if slices.Contains(required, text) {
				missing--
			}
		}
		return missing == 0
	}
}

func list(is shape) shape {
	return func(v rawjson.Value) bool {
		for e := range v.Elements() {
			if !is(e) {
				return false
			}
		}
		return v.Kind() == rawjson.Array
	}
}

func word(words ...string) shape {
	return func(v rawjson.Value) bool {
		text, _ := v.Text()
		return slices.Contains(words, text)
	}
}

func isText(v rawjson.Value) bool { return v.Kind() == rawjson.String }

func isAnyObject(v rawjson.Value) bool { return v.Kind() == rawjson.Object }

func isBase64(v rawjson.Value) bool {
	text, ok := v.Text()
	if !ok || strings.ContainsAny(text, "\r\n") {
		return false
	}
	_, err := base64.StdEncoding.DecodeString(text)
	return err == nil
}

// isPriority is a number from 0 to 1.
func isPriority(v rawjson.Value) bool {
	n, err := strconv.ParseFloat(string(v), 64)
	return v.Kind() == rawjson.Number && err == nil && 0 <= n && n <= 1
}

// isSize is a number of bytes.
func isSize(v rawjson.Value) bool {
	_, err := strconv.ParseInt(string(v), 10, 64)
	return v.Kind() == rawjson.Number && err == nil
}

var isRole = word("user", "assistant")

// isMessage is a message whose content may be anything.
var isMessage = object([]string{"role", "content"}, map[string]shape{"role": isRole, "content": isAnyObject})

var isAnnotations = object(nil, map[string]shape{"audience": list(isRole), "priority": isPriority, "lastModified": isText})

var isIcon = object([]string{"src"}, map[string]shape{"src": isText, "mimeType": isText, "sizes": list(isText), "theme": word("light", "dark")})

// isResource is the contents of a resource.
func isResource(v rawjson.Value) bool {
	known := object([]string{"uri"}, map[string]shape{"uri": isText, "mimeType": isText, "text": isText, "blob": isBase64, "_meta": isAnyObject})
	return known(v) && (v.Member("text") == nil) != (v.Member("blob") == nil)
}

// content is a part of content with the members required, all besides annotations and
// "_meta" being in members.
func content(required []string, members map[string]shape) shape {
	members["type"], members["annotations"], members["_meta"] = isText, isAnnotations, isAnyObject
	return object(required, members)
}

// contents are the contents that a message can have, by type.
var contents = map[string]shape{
	"text":     content([]string{"text"}, map[string]shape{"text": isText}),
	"image":    content([]string{"data", "mimeType"}, map[string]shape{"data": isBase64, "mimeType": isText}),
	"audio":    content([]string{"data", "mimeType"}, map[string]shape{"data": isBase64, "mimeType": isText}),
	"resource": content([]string{"resource"}, map[string]shape{"resource": isResource}),
	"resource_link": content([]string{"uri", "name"}, map[string]shape{
		"uri": isText, "name": isText, "title": isText, "description": isText, "mimeType": isText, "size": isSize, "icons": list(isIcon),
	}),
}
