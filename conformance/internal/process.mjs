// Processes of a run: each is started with what its output must say before it counts as running, and ended by who
// started it: at the latest when this process ends. Nothing here ends a process that it did not start.

import { spawn } from "node:child_process";
import { createInterface } from "node:readline";

// within settles as promise does, or fails when that takes longer than ms.
export function within(ms, promise, what) {
  let timer;
  const late = new Promise((_, reject) => { timer = setTimeout(() => reject(new Error(`${what}: nothing after ${ms} ms`)), ms); });
  return Promise.race([promise, late]).finally(() => clearTimeout(timer));
}

const children = new Set();
process.once("exit", () => children.forEach((child) => child.kill("SIGKILL")));
for (const signal of ["SIGINT", "SIGTERM"]) process.once(signal, () => process.exit(1));

// A Process is a running command: lines are all that it printed, found is the first group of what it was waited for.
class Process {
  lines = [];

  constructor(name, child) {
    this.name = name;
    this.child = child;
    this.ended = new Promise((resolve) => child.once("exit", resolve).once("error", resolve));
    children.add(child);
    this.ended.then(() => children.delete(child));
  }

  // stop ends it as an operator would, and waits until it is gone.
  async stop() {
    this.child.kill("SIGTERM");
    await within(15_000, this.ended, `stop ${this.name}`).catch((err) => { this.child.kill("SIGKILL"); throw err; });
  }
}

// start runs a command until its output, stdout or stderr, has lines that match each of awaited.
export async function start(command, args, awaited, env = {}) {
  const name = [command.split("/").at(-1), ...args].join(" ");
  const child = spawn(command, args, { stdio: ["ignore", "pipe", "pipe"], env: { ...process.env, ...env } });
  const p = new Process(name, child);
  const left = new Set(awaited);
  const running = new Promise((resolve, reject) => {
    for (const stream of [child.stdout, child.stderr]) {
      createInterface({ input: stream }).on("line", (line) => {
        p.lines.push(line);
        for (const pattern of left) {
          const match = line.match(pattern);
          if (!match) continue;
          p.found ??= match[1];
          left.delete(pattern);
        }
        if (left.size === 0) resolve(p);
      });
    }
    p.ended.then(() => reject(new Error(`${name} ended:\n${p.lines.join("\n")}`)));
  });
  try {
    return await within(60_000, running, `start ${name}`);
  } catch (err) {
    child.kill("SIGKILL");
    throw new Error(`${err.message}\n${p.lines.join("\n")}`);
  }
}

// A Group is processes that end together, the last started first.
export class Group {
  running = [];

  async start(...args) {
    const p = await start(...args);
    this.running.unshift(p);
    return p.found;
  }

  async stop() {
    for (const p of this.running) await p.stop().catch((err) => console.error(String(err)));
  }
}
