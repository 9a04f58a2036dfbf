// Processes of a run: each is started with what its output must say before it counts as running, and ended by who
// started it. Nothing here ends a process that it did not start.

import { spawn } from "node:child_process";
import { createInterface } from "node:readline";

// within settles as promise does, or fails when that takes longer than ms.
export function within(ms, promise, what) {
  let timer;
  const late = new Promise((_, reject) => { timer = setTimeout(() => reject(new Error(`${what}: nothing after ${ms} ms`)), ms); });
  return Promise.race([promise, late]).finally(() => clearTimeout(timer));
}

// A Process is a running command: url is what ready found in its output, lines are all that it printed.
class Process {
  constructor(name, child) {
    this.name = name;
    this.child = child;
    this.lines = [];
    this.ended = new Promise((resolve) => child.once("exit", resolve).once("error", resolve));
  }

  // stop ends it as a person would, and waits until it is gone.
  async stop() {
    this.child.kill("SIGTERM");
    await within(15_000, this.ended, `stop ${this.name}`).catch((err) => { this.child.kill("SIGKILL"); throw err; });
  }
}

// start runs a command until its output, stdout or stderr, has a line that ready matches; the first group is the
// process's url.
export async function start(name, command, args, { ready, env = {} }) {
  const child = spawn(command, args, { stdio: ["ignore", "pipe", "pipe"], env: { ...process.env, ...env } });
  const p = new Process(name, child);
  const running = new Promise((resolve, reject) => {
    for (const stream of [child.stdout, child.stderr]) {
      createInterface({ input: stream }).on("line", (line) => {
        p.lines.push(line);
        const found = line.match(ready);
        if (found) { p.url = found[1]; resolve(p); }
      });
    }
    p.ended.then(() => reject(new Error(`${name} ended:\n${p.lines.join("\n")}`)));
  });
  running.catch(() => {}); // who awaits it below is told
  try {
    return await within(60_000, running, `start ${name}`);
  } catch (err) {
    child.kill("SIGKILL");
    throw err;
  }
}
