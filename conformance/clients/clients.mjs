// The clients, each behind the same few words. open(url) gives a session:
//
//   list()            the tools, as {name, description}
//   call(tool, args)  the result; a failed call throws {code, message, data}
//   prompt(name, args), read(uri)
//   answers           whether the client fills in what a call asks its user: with the name Ada
//   changed           a promise that settles when the client was told that tools changed; absent where it cannot be told
//   close()
//
// A session is of one client, one transport and one revision of MCP.

import { execFile, spawn } from "node:child_process";
import { createInterface } from "node:readline";
import { createRequire } from "node:module";
import { join } from "node:path";
import { promisify } from "node:util";

const info = { name: "bindery-conformance", version: "1" };

// clients returns all of them: the packages installed in dir, and the program gosdk.
export function clients(dir, gosdk) {
  const installed = createRequire(join(dir, "package.json"));
  const version = (name) => installed(join(dir, "node_modules", name, "package.json")).version;
  const named = (name, revision, open) => ({ name: `${name} ${version(name)}`, revision, open });
  return [
    named("@modelcontextprotocol/inspector", "legacy", (url) => inspector(dir, url, "legacy")),
    named("@modelcontextprotocol/inspector", "modern", (url) => inspector(dir, url, "modern")),
    named("@modelcontextprotocol/sdk", "2025-11-25", (url) => first(installed, streamable(installed, url))),
    named("@modelcontextprotocol/client", "2025-11-25", (url) => second(installed, url, "legacy")),
    named("@modelcontextprotocol/client", "2026-07-28", (url) => second(installed, url, { pin: "2026-07-28" })),
    named("mcp-remote", "2025-11-25", (url) => remote(installed, dir, url, "legacy")),
    named("mcp-remote", "2026-07-28", (url) => remote(installed, dir, url, "auto", /speaks MCP 2026-07-28/)),
    { name: "go-sdk", revision: "2025-11-25", open: (url) => goSDK(gosdk, url, "2025-11-25") },
    { name: "go-sdk", revision: "2026-07-28", open: (url) => goSDK(gosdk, url, "2026-07-28") },
  ];
}

// inspector runs the Inspector's command line once for each request. It listens to nothing, and says of an error its
// message only.
async function inspector(dir, url, era) {
  const command = join(dir, "node_modules/.bin/mcp-inspector");
  const run = async (...args) => {
    const argv = ["--cli", url, "--transport", "http", "--protocol-era", era, "--format", "json", "--quiet", ...args];
    const { stdout } = await promisify(execFile)(command, argv, { timeout: 60_000, maxBuffer: 32 << 20 }).catch((err) => {
      const said = `${err.stdout ?? ""}${err.stderr ?? err}`;
      let message = said;
      try { message = JSON.parse(said).error.message; } catch { /* no JSON: all of it */ }
      throw Object.assign(new Error(message), { onlyMessage: true });
    });
    const out = JSON.parse(stdout);
    return out.result ?? out;
  };
  return {
    list: async () => (await run("--method", "tools/list")).tools,
    call: (tool, args) => run("--method", "tools/call", "--tool-name", tool, "--tool-args-json", JSON.stringify(args)),
    prompt: (name, args) => run("--method", "prompts/get", "--prompt-name", name, "--prompt-args", ...Object.entries(args).map(([k, v]) => `${k}=${v}`)),
    read: (uri) => run("--method", "resources/read", "--uri", uri),
    answers: false,
    close: async () => {},
  };
}

const streamable = (installed, url) => new (installed("@modelcontextprotocol/sdk/client/streamableHttp.js").StreamableHTTPClientTransport)(new URL(url));

// remote is a session over stdio with mcp-remote, which speaks to url; it falls back to older revisions silently, so
// what it says of the one it found must match proof.
async function remote(installed, dir, url, protocol, proof = /Connected to remote server/) {
  const { StdioClientTransport } = installed("@modelcontextprotocol/sdk/client/stdio.js");
  const transport = new StdioClientTransport({
    command: process.execPath,
    args: [join(dir, "node_modules/mcp-remote/dist/proxy.js"), url, "--allow-http", "--transport", "http-only", "--protocol", protocol],
    env: { ...process.env, MCP_REMOTE_CONFIG_DIR: join(dir, "mcp-remote") },
    stderr: "pipe",
  });
  const proven = new Promise((resolve) => createInterface({ input: transport.stderr }).on("line", (line) => { if (proof.test(line)) resolve(); }));
  const s = await first(installed, transport);
  await proven;
  return s;
}

// first is a session of the first line of the TypeScript SDK, over transport.
async function first(installed, transport) {
  const { Client } = installed("@modelcontextprotocol/sdk/client/index.js");
  const { ElicitRequestSchema, ToolListChangedNotificationSchema } = installed("@modelcontextprotocol/sdk/types.js");
  const client = new Client(info, { capabilities: { elicitation: {} } });
  client.setRequestHandler(ElicitRequestSchema, fillIn);
  const changed = new Promise((resolve) => client.setNotificationHandler(ToolListChangedNotificationSchema, () => resolve()));
  await client.connect(transport);
  return session(client, changed);
}

// second is a session of its second line, over HTTP.
async function second(installed, url, mode) {
  const { Client, StreamableHTTPClientTransport } = installed("@modelcontextprotocol/client");
  let told;
  const changed = new Promise((resolve) => { told = resolve; });
  const client = new Client(info, {
    capabilities: { elicitation: {} }, versionNegotiation: { mode }, listChanged: { tools: { onChanged: () => told() } },
  });
  client.setRequestHandler("elicitation/create", fillIn);
  await client.connect(new StreamableHTTPClientTransport(new URL(url)));
  return session(client, changed);
}

// fillIn answers a question.
const fillIn = async () => ({ action: "accept", content: { name: "Ada" } });

function session(client, changed) {
  return {
    answers: true,
    prompt: (name, args) => client.getPrompt({ name, arguments: args }),
    read: (uri) => client.readResource({ uri }),
    list: async () => (await client.listTools()).tools,
    call: (name, args) => client.callTool({ name, arguments: args }),
    changed,
    close: () => client.close(),
  };
}

// goSDK speaks to a process that is one session of the Go SDK: a line for each question, a line for each answer.
async function goSDK(command, url, revision) {
  const child = spawn(command, [url, revision], { stdio: ["pipe", "pipe", "inherit"] });
  const ended = new Promise((resolve) => child.once("exit", resolve).once("error", resolve));
  const waiting = [];
  let told;
  const changed = new Promise((resolve) => { told = resolve; });
  createInterface({ input: child.stdout }).on("line", (line) => {
    const { result, error, changed: event } = JSON.parse(line);
    if (event) return told();
    const { resolve, reject } = waiting.shift();
    error ? reject(Object.assign(new Error(error.message), error)) : resolve(result);
  });
  ended.then(() => waiting.splice(0).forEach(({ reject }) => reject(new Error("the Go client ended"))));
  const ask = (question) => new Promise((resolve, reject) => {
    waiting.push({ resolve, reject });
    child.stdin.write(JSON.stringify(question) + "\n");
  });
  return {
    list: async () => (await ask({ method: "list" })).tools,
    call: (tool, args) => ask({ method: "call", tool, arguments: args }),
    prompt: (name, args) => ask({ method: "prompt", prompt: name, arguments: args }),
    read: (uri) => ask({ method: "read", uri }),
    answers: true,
    changed,
    close: async () => { child.stdin.end(); await ended; },
  };
}
