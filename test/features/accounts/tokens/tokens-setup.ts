/** Shared setup of the tests of tokens. */
import { afterAll, beforeAll } from "bun:test";
import { type Ask, deploy, expectOk, startTestServer, type TestServer } from "../../../support/harness.ts";

export let server: TestServer;
export let ask: Ask;

export const create = async (body: object, from = ask) =>
  (await expectOk(from("POST", "/users/tokens/create", body))).text;

/** Starts a server before the tests of a file, and stops it after them. */
export function setUpTokens(): void {
  beforeAll(async () => {
    server = await startTestServer();
    ({ ask } = await server.workspace());
    await expectOk(
      server.operator("POST", "/settings/global/custom_tags", { value: ["red", "blue", "green"] }),
    );
    const others = { id: "other", name: "Other", owner: "admin_acme@example.org" };
    await expectOk(server.operator("POST", "/workspaces/create", others));
    await Promise.all(
      ["hello", "other"].map((name) =>
        deploy(ask, "acme", `u/admin/${name}`, `export const main = () => "${name}"`),
      ),
    );
  });
  afterAll(() => server.stop());
}
