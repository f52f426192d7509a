/** GraphQL operations, sent to the endpoint of a resource. */
import { afterAll, describe, expect, test } from "bun:test";
import { deploy, expectOk } from "../../../../support/harness.ts";
import { ask, run, setUpQueries } from "./query-setup.ts";

setUpQueries();

describe("a GraphQL operation", () => {
  const seen: { body: any; authorization: string | null; custom: string | null }[] = [];
  const endpoint = Bun.serve({
    port: 0,
    async fetch(request) {
      const body: any = await request.json();
      const { headers } = request;
      seen.push({ body, authorization: headers.get("authorization"), custom: headers.get("x-team") });
      if (body.query.includes("broken"))
        return new Response("<html>token-4711 is tired</html>", { status: 502 });
      if (body.query.includes("nope")) {
        const errors = [
          { message: 'Cannot query field "nope"', locations: [{ line: 3, column: 5 }], path: ["a", 0] },
          {},
        ];
        return Response.json({ errors, data: null });
      }
      return Response.json({ data: { echoed: body.variables } });
    },
  });
  afterAll(() => endpoint.stop(true));
  const api = () => ({
    base_url: endpoint.url.href,
    bearer_token: "token-4711",
    custom_headers: { "x-team": "shop" },
  });

  test("is sent with its variables to the resource's endpoint", async () => {
    const content = `# comments (may say: anything)
query Orders($id: ID!, $first: Int = 10, $tags: [String!]!) {
  orders(id: $id, first: $first, tags: $tags) { id }
}`;
    await deploy(ask, "acme", "u/admin/orders", content, { language: "graphql" });
    const { schema } = (await ask("GET", "/w/acme/scripts/get/p/u/admin/orders")).json();
    expect(schema).toMatchObject({
      order: ["api", "id", "first", "tags"],
      required: ["api", "id", "tags"],
      properties: {
        api: { format: "resource-graphql" },
        id: { type: "string" },
        first: { type: "integer", default: 10 },
        tags: { type: "array", items: { type: "string" } },
      },
    });
    const args = { api: api(), id: "7", tags: ['"'] };
    const answer = await expectOk(ask("POST", "/w/acme/jobs/run_wait_result/p/u/admin/orders", args));
    expect(answer.json()).toEqual({ echoed: { id: "7", tags: ['"'] } });
    expect(seen.at(-1)).toEqual({
      body: { query: content, variables: { id: "7", tags: ['"'] } },
      authorization: "Bearer token-4711",
      custom: "shop",
    });
  });

  test("fails with line and message, without the token", async () => {
    const wrong = await run("graphql", "query {\n  a {\n    nope\n  }\n}", { api: api() });
    expect(wrong.result.error).toMatchObject({
      name: "QueryError",
      message: 'line 3: Cannot query field "nope" at a.0 (and 1 more)',
    });
    const broken = await run("graphql", "{ broken }", { api: api() });
    expect(broken.result.error.message).toContain("502");
    expect(broken.result.error.message).not.toContain("4711");
    const nowhere = await run("graphql", "{ a }", { api: { base_url: "http://127.0.0.1:1/" } });
    expect(nowhere.result.error.message).toContain("cannot reach 127.0.0.1:1");
    const none = await run("graphql", "{ a }", { api: {} });
    expect(none.result.error.message).toContain("base_url");
  });
});
