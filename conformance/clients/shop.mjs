// Where the clients go: the sample modules, served, with their services.

import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import assert from "node:assert/strict";
import { Group } from "../internal/process.mjs";

const example = (name) => new URL(`../../examples/${name}`, import.meta.url).pathname;
const secrets = {
  BINDERY_SECRET_MERCHANT_TOKEN: "merchant-secret", BINDERY_SECRET_PSP_TOKEN: "psp-secret", BINDERY_SECRET_REDEEM: "redeem-secret",
  BINDERY_SECRET_STUDIO_STATE: "a key that only this run has: 0123456789",
};

// A Shop is a copy of examples/acp at url, and examples/conformance at studio, each with the services behind it. flags
// are those of `bindery dev`.
export class Shop {
  group = new Group();
  dir = mkdtempSync(join(tmpdir(), "bindery-clients-"));
  edits = 0;

  constructor(bin, flags) {
    this.bin = bin;
    this.flags = flags;
  }

  async open() {
    const psp = await this.#service("psp");
    const merchant = await this.#service("merchant", "--psp", psp);
    cpSync(example("acp"), this.dir, { recursive: true });
    this.url = await this.#dev(this.dir, "-t", `merchant_url=${merchant}`, "-t", `psp_url=${psp}`);
    this.studio = await this.#dev(example("conformance"), "-t", `studio_url=${await this.#service("studio")}/v1`);
  }

  #service(name, ...args) {
    return this.group.start(join(this.bin, name), ["--listen", "127.0.0.1:0", ...args], [/url=(http:\S+)/], secrets);
  }

  #dev(dir, ...args) {
    return this.group.start(join(this.bin, "bindery"), ["dev", dir, ...this.flags, "--listen", "127.0.0.1:0", ...args],
      [/(http:\/\/127\.0\.0\.1:\d+)\/mcp\b/], secrets);
  }

  // edit says something new of the tool that is watched, and returns it.
  edit() {
    const file = join(this.dir, "checkout/checkout.cue");
    const said = `Read a checkout session, edition ${++this.edits}.`;
    const text = readFileSync(file, "utf8").replace(/(get_checkout_session: \{\s+description: )"[^"]*"/, `$1"${said}"`);
    assert.ok(text.includes(said), "the module has no tool get_checkout_session");
    writeFileSync(file, text);
    return said;
  }

  async close() {
    await this.group.stop();
    rmSync(this.dir, { recursive: true });
  }
}
