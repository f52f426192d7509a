/** Deletions of the same item at the same time: one succeeds, and one is in the audit log. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { type Ask, expectOk, startTestServer, type TestServer } from "../../support/harness.ts";

let server: TestServer;
let ask: Ask;
beforeAll(async () => {
  server = await startTestServer();
  ({ ask } = await server.workspace());
});
afterAll(() => server.stop());

test.each([
  ["variables", "variables", "path", { value: "x", is_secret: false, description: "" }],
  ["resources", "resources", "path", { value: {}, resource_type: "any", description: "" }],
  ["resource_types", "resources/type", "name", { schema: {}, description: "" }],
])("of concurrent deletions in %s one succeeds", async (noun, url, key, body) => {
  const rounds = 6;
  for (let round = 0; round < rounds; round++) {
    const id = key === "path" ? `u/admin/once_${round}` : `once_${round}`;
    await expectOk(ask("POST", `/w/acme/${url}/create`, { [key]: id, ...body }));
    const remove = () => ask("DELETE", `/w/acme/${url}/delete/${id}`);
    const answers = await Promise.all(Array.from({ length: 20 }, remove));
    expect(answers.map(({ status }) => status).sort()).toEqual([200, ...Array(19).fill(404)]);
  }
  const deletions = await expectOk(ask("GET", `/w/acme/audit/list?operation=${noun}.delete`));
  expect(deletions.json()).toHaveLength(rounds);
});
