// Runs the official conformance suite of MCP against nodes that serve examples/conformance: a control plane that watches
// the module, a node for each set of requirements, and the module's sample service. It prints what fails, and a line for
// each set; docs/conformance.md must say the same.
//
// usage: node run.mjs BIN INSTALLED   (the folder with bindery-controlplane, bindery-node and studio; the one with node_modules)

import { execFile } from "node:child_process";
import { cpSync, existsSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { Group } from "../internal/process.mjs";

const [bin, installed] = process.argv.slice(2).map((dir) => resolve(dir));
if (!installed) {
  console.error("usage: node run.mjs BIN INSTALLED");
  process.exit(2);
}
const module = new URL("../../examples/conformance", import.meta.url).pathname;
const page = readFileSync(new URL("../../docs/conformance.md", import.meta.url), "utf8");
const suite = join(installed, "node_modules/@modelcontextprotocol/conformance");

// sets are the requirements of each revision, and how a node serves it.
const sets = [
  { revision: "2026-07-28", flags: [] },
  { revision: "2025-11-25", flags: ["--stateful"] },
];

// The suite needs a newer Node.js than some systems have.
const runtime = ["x64", "arm64"].map((cpu) => join(installed, `node_modules/node-linux-${cpu}/bin/node`)).find(existsSync) ?? process.execPath;

// listed are the scenarios of a revision that count, and those that are only run.
function listed(revision) {
  const text = readFileSync(join(suite, "requirements", `${revision}.yaml`), "utf8");
  const section = (name) => text.split(/^(?=\w+:)/m).find((part) => part.startsWith(`${name}:`)) ?? "";
  const others = section("not_scored").split(/^ {2}- scenario: /m).slice(1).filter((entry) => /^ +leg: server$/m.test(entry));
  return {
    scored: [...section("server").matchAll(/^ {2}- (\S+)$/gm)].map((m) => m[1]),
    others: others.map((entry) => entry.split("\n", 1)[0]),
  };
}

// play runs the scenarios of a revision at url and returns the checks of each, by its name.
async function play(revision, url, dir) {
  const out = join(dir, revision);
  const argv = [join(suite, "dist/index.js"), "server", "--url", url, "--requirements", revision, "-o", out];
  const said = await new Promise((done) => execFile(runtime, argv, { timeout: 300_000, maxBuffer: 64 << 20 }, (_, stdout, stderr) => done(stdout + stderr)));
  if (!existsSync(out)) throw new Error(`the suite did not run:\n${said}`);
  const checks = new Map();
  for (const entry of readdirSync(out)) {
    const name = entry.match(/^server-(.+)-\d{4}-\d{2}-\d{2}T/)?.[1];
    if (name) checks.set(name, JSON.parse(readFileSync(join(out, entry, "checks.json"), "utf8")));
  }
  return checks;
}

// verdict is "passes" for a scenario of which no check failed, "skips" for one that checked nothing, or "fails".
function verdict(checks = [{ status: "FAILURE" }]) {
  const any = (status) => checks.some((c) => c.status === status);
  return any("FAILURE") ? "fails" : any("SUCCESS") ? "passes" : "skips";
}

// judge prints what there is to say of a revision, and returns what docs/conformance.md lacks of it or says wrongly.
function judge(revision, checks) {
  const { scored, others } = listed(revision);
  const tell = (name) => (checks.get(name) ?? [{ status: "FAILURE", id: "not run" }])
    .filter((c) => c.status === "FAILURE" || c.status === "WARNING")
    .forEach((c) => console.log(`  ${c.status.toLowerCase()} ${name} ${c.id}: ${(c.errorMessage ?? "").slice(0, 500)}`));
  scored.forEach(tell);
  const good = scored.filter((name) => verdict(checks.get(name)) === "passes");
  const warnings = scored.flatMap((name) => checks.get(name) ?? []).filter((c) => c.status === "WARNING").length;
  const line = `${revision}: ${good.length} of ${scored.length} scored scenarios pass, ${warnings} warnings`;
  console.log(line);
  const rows = others.map((name) => `| \`${name}\` | ${revision} | ${verdict(checks.get(name))} |`);
  rows.forEach((row) => console.log(`not scored: ${row}`));
  return { missed: scored.length - good.length, untold: [line, ...rows].filter((text) => !page.includes(text)) };
}

const dir = mkdtempSync(join(tmpdir(), "bindery-conformance-"));
const group = new Group();
let missed = 0;
const untold = [];
try {
  cpSync(module, join(dir, "module"), { recursive: true });
  const any = ["--listen", "127.0.0.1:0"];
  const studio = await group.start(join(bin, "studio"), any, [/url=(http:\S+)/], { STUDIO_SHELVES: join(dir, "module", "editions.cue") });
  writeFileSync(join(dir, "module", "here.cue"), `package bindings\n\nstudio_url: "${studio}/v1"\n`);
  const plane = await group.start(join(bin, "bindery-controlplane"),
    [...any, "--http", "127.0.0.1:0", "--data", join(dir, "data"), "--source", `default=${join(dir, "module")}`],
    [/msg=serving listen=(\S+)/, /msg="revision stored"/]);
  for (const { revision, flags } of sets) {
    const node = await group.start(join(bin, "bindery-node"),
      [...any, "--admin", "127.0.0.1:0", "--control-plane", plane, "--id", revision, "--drain-delay", "0s", ...flags],
      [/msg=serving mcp=(\S+)/, /msg=running/], { BINDERY_SECRET_STUDIO_STATE: "a key that only this run has: 0123456789abcdef" });
    const found = judge(revision, await play(revision, `http://${node}/mcp`, dir));
    missed += found.missed;
    untold.push(...found.untold);
  }
} finally {
  await group.stop();
  rmSync(dir, { recursive: true });
}
untold.forEach((text) => console.log(`docs/conformance.md does not say: ${text}`));
process.exit(missed + untold.length === 0 ? 0 : 1);
