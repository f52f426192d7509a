/** Values of resources: the references in them, and the types that describe them. */
import { beforeAll, describe, expect, test } from "bun:test";
import { type Ask, deploy, expectOk } from "../../../support/harness.ts";
import {
  askAs,
  create,
  devToken,
  getInterpolatedValue,
  RESOURCES,
  server,
  setUpResources,
  variable,
} from "./resources-setup.ts";

setUpResources();

describe("references", () => {
  beforeAll(async () => {
    await variable("u/dev/plain", "value of plain");
    await variable("u/dev/hidden", "value of hidden", true);
    await variable("u/dev2/hidden", "not for dev", true, askAs.dev2);
    await expectOk(create("u/dev/inner", { password: "$var:u/dev/hidden", list: ["$var:u/dev/plain"] }));
  });

  test("are replaced at any depth, in arrays and through resources, and nowhere else", async () => {
    const value = {
      whole: "$res:u/dev/inner",
      list: [["$var:u/dev/plain", 1, null, true], { slash: "$var:/u/dev/plain" }],
      text: "not $var:u/dev/plain here",
      other: "$price",
      job: "$WM_JOB_ID",
      "$var:u/dev/plain": "a name",
    };
    await expectOk(create("u/dev/outer", value));
    expect((await expectOk(getInterpolatedValue("u/dev/outer"))).json()).toEqual({
      ...value,
      whole: { password: "value of hidden", list: ["value of plain"] },
      list: [["value of plain", 1, null, true], { slash: "value of plain" }],
    });
    expect((await askAs.dev!("GET", `${RESOURCES}/get_value/u/dev/outer`)).json()).toEqual(value);
    await expectOk(create("u/dev/alone", "$res:u/dev/inner"));
    expect((await getInterpolatedValue("u/dev/alone")).json().list).toEqual(["value of plain"]);
  });

  test("to a secret leave the audit row of reading it", async () => {
    const rows = async () =>
      (
        await askAs.admin!("GET", "/w/acme/audit/list?operation=variables.decrypt_secret&username=dev")
      ).json();
    const before = (await rows()).length;
    await expectOk(askAs.dev!("GET", "/w/acme/variables/get_value/u/dev/hidden"));
    await expectOk(getInterpolatedValue("u/dev/inner"));
    const [second, first, ...others] = await rows();
    expect(others).toHaveLength(before);
    expect(first).toMatchObject({ resource: "u/dev/hidden", username: "dev", action_kind: "Execute" });
    expect({ ...second, id: 0, timestamp: "" }).toEqual({ ...first, id: 0, timestamp: "" });
  });

  test("that are unreadable for the caller, or dangling, are rejected by name", async () => {
    const cases: [path: string, value: unknown, status: number, says: string][] = [
      ["u/dev/r1", ["$var:u/dev2/hidden"], 400, "resource u/dev/r1: $var:u/dev2/hidden cannot be resolved"],
      ["u/dev/r2", { a: "$var:u/dev/none" }, 400, "$var:u/dev/none cannot be resolved"],
      ["u/dev/r3", { a: "$res:u/dev/none" }, 400, "$res:u/dev/none cannot be resolved"],
      ["u/dev/r4", { a: { b: "$res:u/dev/r4" } }, 400, "in a circle: u/dev/r4 → u/dev/r4"],
      ["u/dev/r5", ["$res:u/dev/r6"], 400, "$res:u/dev/r6 cannot be resolved"],
      ["u/dev/r6", ["$res:u/dev/r5"], 400, "in a circle: u/dev/r6 → u/dev/r5 → u/dev/r6"],
      ["u/dev/r7", new Array(1001).fill("$var:u/dev/plain"), 400, "more than 1000 references"],
    ];
    for (const [path, value, status, says] of cases) {
      await expectOk(create(path, value));
      const answer = await getInterpolatedValue(path);
      expect([path, answer.status, answer.text]).toEqual([path, status, expect.stringContaining(says)]);
    }
    expect((await getInterpolatedValue("u/dev2/none")).status).toBe(404);
  });

  test("are resolved up to a limit", async () => {
    for (let n = 1; n <= 21; n++) await expectOk(create(`u/dev/chain${n}`, [`$res:u/dev/chain${n + 1}`]));
    await expectOk(create("u/dev/chain22", "end"));
    expect((await getInterpolatedValue("u/dev/chain3")).text).toContain("end");
    expect((await getInterpolatedValue("u/dev/chain1")).text).toContain("more than 20 nested resources");
    // Each contains the next one ten times: a billion in total.
    for (let n = 1; n <= 9; n++)
      await expectOk(create(`u/dev/bomb${n}`, Array(10).fill(`$res:u/dev/bomb${n + 1}`)));
    await expectOk(create("u/dev/bomb10", "boom"));
    expect((await getInterpolatedValue("u/dev/bomb1")).text).toContain("more than 1000 references");
    const deep = (inner: string) => JSON.parse(`${"[".repeat(400)}"${inner}"${"]".repeat(400)}`);
    await expectOk(create("u/dev/deep1", deep("$res:u/dev/deep2")));
    await expectOk(create("u/dev/deep2", deep("$res:u/dev/deep3")));
    await expectOk(create("u/dev/deep3", deep("$res:u/dev/chain22")));
    expect((await getInterpolatedValue("u/dev/deep3")).text).toBe(JSON.stringify(deep("end")));
    const content = "export const main = (x: unknown) => 1";
    await deploy(askAs.dev!, "acme", "u/dev/takes", content);
    const run = async (x: string) =>
      (await askAs.dev!("POST", "/w/acme/jobs/run_wait_result/p/u/dev/takes", { x })).text;
    expect(await run("$res:u/dev/deep3")).toBe("1");
    expect(await run("$res:u/dev/deep1")).toContain("nested deeper than the 500 levels");
  });

  test("to secrets are resolved for operators only in their jobs", async () => {
    await variable("g/all/hidden", "for jobs", true, askAs.admin);
    await expectOk(create("g/all/uses", { key: "$var:g/all/hidden" }, {}, askAs.admin));
    expect((await getInterpolatedValue("g/all/uses", "", askAs.ops)).status).toBe(403);
    const reads = `export async function main() {
      const url = process.env.BASE_INTERNAL_URL + "/api/w/acme/resources/get_value_interpolated/g/all/uses";
      return (await fetch(url, { headers: { authorization: "Bearer " + process.env.WM_TOKEN } })).json();
    }`;
    await deploy(askAs.admin!, "acme", "g/all/reads_resource", reads);
    const run = await askAs.ops!("POST", "/w/acme/jobs/run_wait_result/p/g/all/reads_resource", {});
    expect(run.json()).toEqual({ key: "for jobs" });
  });

  test("are limited by a restricted token's scopes", async () => {
    const token = async (scopes: string[]) =>
      server.as((await expectOk(askAs.dev!("POST", "/users/tokens/create", { scopes }))).text);
    const resourcesOnly = await token(["resources:read"]);
    expect((await getInterpolatedValue("u/dev/inner", "", resourcesOnly)).text).toContain("variables:read");
    expect(
      (await getInterpolatedValue("u/dev/alone", "", await token(["resources:read:u/dev/alone"]))).status,
    ).toBe(403);
    const both = await token(["resources:read:u/dev/*", "variables:read"]);
    expect((await getInterpolatedValue("u/dev/alone", "", both)).status).toBe(200);
  });

  test("to facts of a job need the job, which the caller must see", async () => {
    const value = { job: "$WM_JOB_ID", path: ["$WM_JOB_PATH"], token: "$WM_TOKEN", none: "$WM_NONE" };
    await expectOk(create("g/all/facts", value));
    expect((await getInterpolatedValue("g/all/facts")).json()).toEqual(value);
    await deploy(askAs.dev!, "acme", "u/dev/job", "export const main = () => 1");
    const id = (await expectOk(askAs.dev!("POST", "/w/acme/jobs/run/p/u/dev/job", {}))).text;
    expect((await getInterpolatedValue("g/all/facts", `?job_id=${id}`)).json()).toEqual({
      job: id,
      path: ["u/dev/job"],
      token: devToken,
      none: "$WM_NONE",
    });
    expect((await getInterpolatedValue("g/all/facts", `?job_id=${id}`, askAs.dev2)).status).toBe(404);
    expect((await getInterpolatedValue("g/all/facts", "?job_id=1")).status).toBe(400);
  });
});

describe("a resource type", () => {
  const types = (call: string, ask = askAs.dev!) => ask("GET", `${RESOURCES}/type/${call}`);
  const schema = { type: "object", properties: { a: { type: "string" } } };

  test("is created, changed by its creator or an admin, and deleted", async () => {
    const made = await askAs.dev!("POST", `${RESOURCES}/type/create`, {
      name: "c_thing",
      schema,
      description: "A thing",
    });
    expect([made.status, made.text]).toEqual([201, "resource type c_thing created"]);
    const record = {
      workspace_id: "acme",
      name: "c_thing",
      schema,
      description: "A thing",
      format_extension: null,
      is_fileset: false,
      created_by: "dev",
      edited_at: expect.any(String),
    };
    expect((await types("get/c_thing")).json()).toEqual(record);
    expect((await types("exists/c_thing")).json()).toBe(true);
    expect((await types("list")).json()).toContainEqual(record);
    expect((await types("listnames")).json()).toContain("c_thing");
    expect((await askAs.dev!("POST", `${RESOURCES}/type/create`, { name: "c_thing" })).status).toBe(400);
    expect((await askAs.dev!("POST", `${RESOURCES}/type/create`, { name: "no/name" })).status).toBe(400);
    const change = (ask: Ask, body: object) => ask("POST", `${RESOURCES}/type/update/c_thing`, body);
    expect((await change(askAs.dev2!, { description: "mine" })).status).toBe(403);
    await expectOk(change(askAs.admin!, { description: "Another" }));
    expect((await types("get/c_thing")).json()).toEqual({ ...record, description: "Another" });
    expect((await askAs.dev2!("DELETE", `${RESOURCES}/type/delete/c_thing`)).status).toBe(403);
    await expectOk(askAs.dev!("DELETE", `${RESOURCES}/type/delete/c_thing`));
    expect((await types("get/c_thing")).status).toBe(404);
    expect((await types("exists/c_thing")).json()).toBe(false);
    expect((await askAs.dev!("DELETE", `${RESOURCES}/type/delete/c_thing`)).status).toBe(404);
    expect((await change(askAs.dev!, {})).status).toBe(404);
  });

  test("exists for common services from the start, and a workspace may have its own instead", async () => {
    const names = (await types("listnames")).json();
    for (const name of ["postgresql", "mysql", "s3", "smtp"]) expect(names).toContain(name);
    expect((await types("get/postgresql")).json()).toMatchObject({
      workspace_id: "admins",
      schema: { properties: { host: { type: "string" } } },
    });
    await expectOk(askAs.dev!("POST", `${RESOURCES}/type/update/smtp`, { schema }));
    expect((await types("get/smtp")).json()).toMatchObject({ workspace_id: "acme", schema });
    expect((await types("list")).json().filter(({ name }: any) => name === "smtp")).toHaveLength(1);
    await expectOk(askAs.dev!("DELETE", `${RESOURCES}/type/delete/smtp`));
    expect((await types("get/smtp")).json().workspace_id).toBe("admins");
    expect((await askAs.admin!("DELETE", `${RESOURCES}/type/delete/smtp`)).status).toBe(404);
  });

  test("of the workspace admins is visible to all, and can set file extensions", async () => {
    const shared = "/w/admins/resources/type";
    const body = { name: "ini", schema, format_extension: "ini" };
    await expectOk(askAs.root!("POST", `${shared}/create`, body));
    expect((await types("get/ini")).json()).toMatchObject({
      workspace_id: "admins",
      format_extension: "ini",
    });
    const extensions = (await askAs.dev!("GET", `${RESOURCES}/file_resource_type_to_file_ext_map`)).json();
    expect(extensions).toEqual({ ini: "ini" });
    expect((await askAs.dev!("POST", `${shared}/update/ini`, {})).status).toBe(401);
    expect((await askAs.ops!("POST", `${RESOURCES}/type/create`, { name: "c_ops" })).status).toBe(403);
  });
});

describe("a value that differs from its type", () => {
  const fits = { host: "db", dbname: "main", port: 5432 };
  const cases: [what: string, type: string, value: unknown, warning: string[]][] = [
    ["fits", "postgresql", fits, []],
    ["misses a field", "postgresql", { host: "db" }, ["does not match resource type postgresql", "'dbname'"]],
    ["has a text for a number", "postgresql", { ...fits, port: "x" }, ["/port must be integer"]],
    ["has none of the choices", "postgresql", { ...fits, sslmode: "maybe" }, ["/sslmode", '"verify-full"']],
    ["is not an object", "postgresql", "postgres://db", ["the value must be object"]],
    ["refers", "postgresql", { ...fits, port: "$var:u/dev/port" }, []],
    ["is a reference", "postgresql", "$res:u/dev/other", []],
    ["has a type nobody knows", "nobodys", {}, ["resource type nobodys is not known"]],
    ["is a state", "state", 5, []],
  ];
  test.each(cases)("is stored with a warning: one that %s", async (_, resource_type, value, warnings) => {
    const path = `u/dev/checked_${Bun.randomUUIDv7()}`;
    const answer = await expectOk(askAs.dev!("POST", `${RESOURCES}/create`, { path, value, resource_type }));
    const [, ...lines] = answer.text.split("\n");
    expect(lines.length).toBe(warnings.length > 0 ? 1 : 0);
    for (const warning of warnings) expect(lines[0]).toContain(warning);
    const again = await expectOk(askAs.dev!("POST", `${RESOURCES}/update_value/${path}`, { value }));
    expect(again.text.split("\n").slice(1)).toEqual(lines);
    expect((await askAs.dev!("GET", `${RESOURCES}/get_value/${path}`)).json()).toEqual(value);
  });

  test("is checked within limits, and an invalid schema is reported", async () => {
    const twice = (name: string) => ({ allOf: [{ $ref: `#/$defs/${name}` }, { $ref: `#/$defs/${name}` }] });
    const $defs = Object.fromEntries(Array.from({ length: 40 }, (_, at) => [`d${at}`, twice(`d${at + 1}`)]));
    const schemas: [name: string, schema: unknown, value: unknown, warned: boolean][] = [
      ["slow_pattern", { type: "string", pattern: "^(a+)+$" }, `${"a".repeat(60)}!`, false],
      ["exploding", { $defs: { ...$defs, d40: { type: "string" } }, ...twice("d0") }, 1, false],
      ["endless", { $ref: "#" }, 1, false],
      ["wrong", { type: "nonsense" }, 1, true],
      ["no_schema", "text", 1, true],
    ];
    for (const [name, schema, value, warned] of schemas) {
      const made = await expectOk(askAs.dev!("POST", `${RESOURCES}/type/create`, { name, schema }));
      expect([name, made.text.includes("warning: its schema is not JSON Schema")]).toEqual([name, warned]);
      const answer = await expectOk(
        askAs.dev!("POST", `${RESOURCES}/create`, { path: `u/dev/${name}`, value, resource_type: name }),
      );
      expect([name, answer.text.includes("warning")]).toEqual([name, false]);
    }
  });
});

test("changes of resource types are in the audit log", async () => {
  const rows = (await askAs.admin!("GET", "/w/acme/audit/list?per_page=1000")).json();
  const seen = new Set(rows.map(({ operation, action_kind }: any) => `${operation} ${action_kind}`));
  for (const row of [
    "resource_types.create Create",
    "resource_types.update Update",
    "resource_types.delete Delete",
  ])
    expect(seen).toContain(row);
});
