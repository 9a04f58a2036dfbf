package message

// Revisions of the protocol compare as texts: later ones are greater.
const (
	// Modern is the first revision without sessions. Its results say what type they are.
	Modern = "2026-07-28"
	// Structured is the first revision with "structuredContent", with titles, and with
	// links in content.
	Structured = "2025-06-18"
	// Audible is the first revision with audio.
	Audible = "2025-03-26"
	// LastHandshake is the newest revision that a client and a server agree on when they
	// meet.
	LastHandshake = "2025-11-25"

	// withoutBatches is the first revision without batches.
	withoutBatches = "2025-06-18"
	// unsaid is the revision that a client speaks who names none: so the specification
	// says.
	unsaid = "2025-03-26"
)

// Methods of which more is known than that there are such.
const (
	MethodCall       = "tools/call"
	MethodListen     = "subscriptions/listen"
	MethodPrompt     = "prompts/get"
	MethodRead       = "resources/read"
	MethodInitialize = "initialize"
	MethodDiscover   = "server/discover"
	MethodSetLevel   = "logging/setLevel"
	methodPing       = "ping"
)

// The members of "_meta" that say how a modern client speaks.
const (
	KeyVersion      = "io.modelcontextprotocol/protocolVersion"
	KeyCapabilities = "io.modelcontextprotocol/clientCapabilities"
	keyClient       = "io.modelcontextprotocol/clientInfo"
)

// The members of "_meta" that say which trace a call belongs to.
const (
	KeyTraceparent = "traceparent"
	KeyTracestate  = "tracestate"
)
