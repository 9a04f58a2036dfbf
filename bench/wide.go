package main

import (
	"bytes"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/bindery-dev/bindery/cue/schema"
)

// things is how many kinds of things a package of the wide module has, with five tools
// each.
const things = 10

// writeWide writes a module to dir: what its platform team says in the root, and one
// directory with a package of 50 tools for each of so many other teams. Every other one
// has a schema document. The language is in cue.mod/pkg, where `cue` looks for it.
func writeWide(dir string, packages int) error {
	files := map[string][]byte{
		"cue.mod/module.cue": []byte("module: \"example.com/wide@v0\"\nlanguage: version: \"v0.16.0\"\n"),
		"platform.cue":       []byte(platform),
	}
	err := fs.WalkDir(schema.FS, "bind", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		files["cue.mod/pkg/bindery.dev/"+name], err = schema.FS.ReadFile(name)
		return err
	})
	if err != nil {
		return err
	}
	for i := range packages {
		team := fmt.Sprintf("team%03d", i)
		files[team+"/api.cue"] = teamAPI(team, i%2 == 0)
		if i%2 == 0 {
			files[team+"/api.json"] = teamSchema()
		}
	}
	for name, data := range files {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(path, data, 0o600); err != nil {
			return err
		}
	}
	return nil
}

// platform is what all teams share.
const platform = `package bindings

import (
	"strings"
	"time"

	"bindery.dev/bind"
)

// #REST is what the services here have in common.
#REST: bind.#Binding & {
	version: "1.0.0"
	meta: {
		request_id: {generate: "uuid", description: "Correlation ID of this request."}
		idempotency_key: {description: "Unique key that makes a retry safe.", minLength: 1, maxLength: 255, key: true}
		tenant: {header: "X-Tenant", required: true, description: "Whose data it is."}
	}
	redact: "request/meta/tenant": true
	tools: [string]: {
		http: string
		if strings.HasPrefix(http, "GET ") {
			meta: idempotency_key: false
			annotations: readOnly: true
		}
		if !strings.HasPrefix(http, "GET ") {
			retry: attempts: *3 | int
		}
	}
	errors: {
		style: "tool"
		message: "/detail"
		usable: {title: true, detail: true}
		rules: {
			refused: {status: ["4xx"], fallback: {title: "Refused", detail: "The request was refused."}}
			in_flight: {
				status: ["409"]
				body: "/code": "in_flight"
				retry: true
				fallback: {title: "In flight", detail: "The first request with this key has not ended."}
			}
			busy: {
				status: ["429", "503"]
				failure: ["timeout", "unreachable"]
				headers: retry_after: "Retry-After"
				fallback: {title: "Busy", detail: "The service cannot be asked right now."}
			}
			broken: {status: ["3xx", "5xx"], failure: ["unusable"], fallback: {title: "Broken", detail: "The service does not work."}}
		}
	}
}

// What every team is held to.
bindings: [Name=_]: bind.#Binding & {
	name: Name
	upstream: headers: "X-Gateway": "bindery"
	tools: [string]: timeout: <=(15 * time.Second) | *(10 * time.Second)
}
`

// teamAPI returns the package of a team.
func teamAPI(team string, documented bool) []byte {
	var b bytes.Buffer
	payload, output, document := `args: {
			title: {in: "body", required: true, description: "What it is called."}
			note: {in: "body", description: "What else there is to say."}
			count: {in: "body", type: "integer", description: "How many there are."}
			labels: {in: "body", type: "array", description: "Words to find it by."}
		}`, "", ""
	if documented {
		payload, output, document = `payload: "ThingRequest"`, "\n\t\toutput: \"Thing\"", "\tschema: \"api.json\"\n"
	}
	fmt.Fprintf(&b, "package bindings\n\nbindings: %[1]s: #REST & {\n\ttitle: \"The API of %[1]s\"\n\tendpoint: \"/%[1]s\"\n%[2]s"+
		"\tupstream: {\n\t\turl: \"https://%[1]s.example.com/v1\"\n\t\tauth: bearer: secret: \"%[1]s-token\"\n\t}\n", team, document)
	for i := range things {
		fmt.Fprintf(&b, `
	tools: list_thing%[1]d: {
		description: "List things of kind %[1]d, the oldest first; next_cursor of a page leads to the next one."
		http:        "GET /thing%[1]d"
		args: {
			state: {in: "query", enum: ["open", "closed"], description: "Only things in this state."}
			labels: {in: "query", type: "array", style: "csv", description: "Only things with all of these labels."}
			limit: {in: "query", type: "integer", description: "How many things a page has; by default 10."}
			cursor: {in: "query", description: "The next_cursor of the page before."}
		}
	}
	tools: get_thing%[1]d: {
		description: "Read a thing of kind %[1]d."
		http:        "GET /thing%[1]d/{id}"
		args: id: description: "The thing's ID."%[3]s
	}
	tools: create_thing%[1]d: {
		description: "Make a thing of kind %[1]d."
		http:        "POST /thing%[1]d"
		%[2]s%[3]s
	}
	tools: change_thing%[1]d: {
		description: "Change a thing of kind %[1]d: what is not given stays as it is."
		http:        "PATCH /thing%[1]d/{id}"
		args: id: description: "The thing's ID."
		%[2]s
	}
	tools: delete_thing%[1]d: {
		description: "Take a thing of kind %[1]d away."
		http:        "DELETE /thing%[1]d/{id}"
		args: id: description: "The thing's ID."
		annotations: destructive: true
	}
`, i, payload, output)
	}
	b.WriteString("}\n")
	return b.Bytes()
}

// teamSchema returns the schema document of a team.
func teamSchema() []byte {
	return []byte(`{
	"$schema": "https://json-schema.org/draft/2020-12/schema",
	"$defs": {
		"Thing": {
			"type": "object",
			"required": ["id", "title"],
			"properties": {
				"id": {"type": "string", "minLength": 1},
				"title": {"$ref": "#/$defs/Title"},
				"note": {"type": "string"},
				"count": {"type": "integer", "minimum": 0},
				"labels": {"type": "array", "items": {"type": "string"}},
				"state": {"enum": ["open", "closed"]},
				"owner": {"$ref": "#/$defs/Person"},
				"created": {"type": "string", "format": "date-time"}
			}
		},
		"ThingRequest": {
			"type": "object",
			"required": ["title"],
			"additionalProperties": false,
			"properties": {
				"title": {"$ref": "#/$defs/Title"},
				"note": {"type": "string"},
				"count": {"type": "integer", "minimum": 0},
				"labels": {"type": "array", "items": {"type": "string"}, "maxItems": 10},
				"owner": {"$ref": "#/$defs/Person"}
			}
		},
		"Title": {"type": "string", "minLength": 1, "maxLength": 200},
		"Person": {"type": "object", "required": ["login"], "properties": {"login": {"type": "string"}, "email": {"type": "string", "format": "email"}}}
	}
}
`)
}
