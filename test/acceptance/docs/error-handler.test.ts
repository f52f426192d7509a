/** The README's error handler reports a failure to a chat's webhook. */
import { expect, test } from "bun:test";
import { deploy, expectOk, startTestServer } from "../../support/harness.ts";
import { blockOf } from "./blocks.ts";

test("the error handler of the README posts the failed script and the reason", async () => {
  const { promise, resolve } = Promise.withResolvers<unknown>();
  using chat = Bun.serve({
    port: 0,
    fetch: async (request) => {
      resolve(await request.json());
      return new Response("ok");
    },
  });
  const server = await startTestServer();
  try {
    const { ask } = await server.workspace();
    const code = blockOf("README.md", "tell.ts");
    const address = /https:\/\/chat\.example\.org\/[^"]*/;
    expect(code).toMatch(address);
    await expectOk(ask("POST", "/w/acme/folders/create", { name: "ops" }));
    await deploy(ask, "acme", "f/ops/tell", code.replace(address, chat.url.href));
    await deploy(ask, "acme", "f/ops/boom", "export const main = () => { throw new Error('no luck') }");
    await expectOk(
      ask("POST", "/w/acme/workspaces/edit_error_handler", { error_handler: "script/f/ops/tell" }),
    );
    const id = (await ask("POST", "/w/acme/jobs/run/p/f/ops/boom", {})).text;
    expect(await promise).toEqual({ text: `f/ops/boom failed: no luck (job ${id})` });
  } finally {
    await server.stop();
  }
}, 60_000);
