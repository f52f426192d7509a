/** The rights that jobs have, and who can see and cancel them. */
import { beforeAll, describe, expect, test } from "bun:test";
import { deploy, expectOk, until } from "../../../support/harness.ts";
import { admin, askAs, createVariable, server, setUpRights } from "./rights-setup.ts";

setUpRights();

describe("jobs", () => {
  const ids: Record<string, string> = {};
  beforeAll(async () => {
    await admin("groups/create", { name: "leads" });
    await admin("groups/adduser/leads", { username: "cid" });
    await admin("folders/create", {
      name: "jobs",
      owners: ["u/ann", "g/leads"],
      extra_perms: { "u/bob": true },
    });
    for (const name of ["dee", "eve", "fay"]) askAs[name] = (await server.member("acme", name)).ask;
    await admin("folders/update/jobs", {
      owners: ["u/ann", "g/leads"],
      extra_perms: { "u/bob": true, "u/dee": false, "u/fay": false },
    });
    await deploy(askAs.ann!, "acme", "f/jobs/x", "export const main = () => 1");
    const run = async (who: string, query = "") =>
      (await expectOk(askAs[who]!("POST", `/w/acme/jobs/run/p/f/jobs/x?${query}`, {}))).text;
    ids.open = await run("dee");
    ids.hidden = await run("dee", "invisible_to_owner=true");
    for (const id of Object.values(ids)) {
      await until(async () => {
        const { type } = (await askAs.dee!("GET", `/w/acme/jobs_u/get/${id}`)).json();
        return type === "CompletedJob" ? true : undefined;
      });
    }
  });

  test.each([
    ["who ran it", "dee", ["open", "hidden"]],
    ["an owner of its folder", "ann", ["open"]],
    ["a group that owns its folder", "cid", ["open"]],
    ["who may write in its folder", "bob", ["open"]],
    ["who may read its folder", "fay", ["open"]],
    ["a stranger", "eve", []],
    ["an admin", "admin", ["open", "hidden"]],
  ])("are seen by %s, unless it was made invisible to owners", async (_, who, names) => {
    const list = await askAs[who]!("GET", "/w/acme/jobs/list?script_path_exact=f/jobs/x");
    const listed = (list.json() as { id: string }[]).map(({ id }) => id);
    const count = Object.keys(ids).filter((name) => listed.includes(ids[name]!));
    expect(count).toEqual(names);
    for (const [name, id] of Object.entries(ids)) {
      const status = (names as string[]).includes(name) ? 200 : 404;
      for (const url of ["get", "completed/get_result", "get_args", "get_logs"]) {
        expect((await askAs[who]!("GET", `/w/acme/jobs_u/${url}/${id}`)).status).toBe(status);
      }
    }
  });

  test("can only be viewed by users who may read their folder: changing them is for their runner, owners and admins", async () => {
    const later = (
      await expectOk(askAs.dee!("POST", "/w/acme/jobs/run/p/f/jobs/x?scheduled_in_secs=3600", {}))
    ).text;
    const listed = await askAs.fay!("GET", "/w/acme/jobs/queue/list?script_path_exact=f/jobs/x");
    expect(listed.json().map(({ id }: { id: string }) => id)).toEqual([later]);
    const counted = await askAs.fay!("GET", "/w/acme/jobs/list?script_path_exact=f/jobs/x&per_page=1");
    expect(counted.json()).toHaveLength(1);
    const cancel = (who: string) => askAs[who]!("POST", `/w/acme/jobs_u/queue/cancel/${later}`, {});
    for (const who of ["fay", "bob"]) {
      const refused = await cancel(who);
      expect([refused.status, refused.text]).toEqual([403, expect.stringContaining("but not change it")]);
      expect((await askAs[who]!("POST", "/w/acme/jobs/queue/cancel_selection", [later])).json()).toEqual([]);
      const link = await askAs[who]!("GET", `/w/acme/jobs/job_signature/${later}/1`);
      expect(link.status).toBe(403);
      const progress = await askAs[who]!("POST", `/w/acme/job_metrics/set_progress/${later}`, { percent: 1 });
      expect(progress.status).toBe(403);
    }
    await expectOk(askAs.fay!("POST", "/w/acme/jobs_u/queue/cancel_persistent/f/jobs/x", {}));
    expect((await askAs.dee!("GET", `/w/acme/jobs_u/get/${later}`)).json().type).toBe("QueuedJob");
    expect((await cancel("ann")).status).toBe(200);
  });

  test("act with the current rights of their runner", async () => {
    await createVariable("f/jobs/v");
    await deploy(
      askAs.ann!,
      "acme",
      "f/jobs/reads",
      `export async function main(path: string) {
        const { BASE_INTERNAL_URL, WM_WORKSPACE, WM_TOKEN } = process.env;
        const url = \`\${BASE_INTERNAL_URL}/api/w/\${WM_WORKSPACE}/variables/get_value/\${path}\`;
        return (await fetch(url, { headers: { authorization: \`Bearer \${WM_TOKEN}\` } })).status;
      }`,
    );
    const reads = async (who: string) =>
      (
        await askAs[who]!("POST", "/w/acme/jobs/run_wait_result/p/f/jobs/reads", { path: "u/ann/own" })
      ).json();
    await expectOk(
      askAs.ann!("POST", "/w/acme/variables/create", {
        path: "u/ann/own",
        value: "1",
        is_secret: false,
        description: "",
      }),
    );
    expect(await reads("ann")).toBe(200);
    expect(await reads("dee")).toBe(404);
    await expectOk(askAs.ann!("POST", "/w/acme/acls/add/variable/u/ann/own", { owner: "u/dee" }));
    expect(await reads("dee")).toBe(200);
  });
});

describe("a flow runs with the caller's rights, not its author's", () => {
  beforeAll(async () => {
    await admin("folders/create", { name: "lent", owners: ["u/ann"], extra_perms: { "u/bob": false } });
    await deploy(askAs.ann!, "acme", "u/ann/own", "export const main = () => 'of ann'");
    const flow = (path: string, value: object) =>
      expectOk(
        askAs.ann!("POST", "/w/acme/flows/create", {
          path,
          summary: "",
          value: { modules: [{ id: "a", value }] },
        }),
      );
    await flow("f/lent/script", { type: "script", path: "u/ann/own", input_transforms: {} });
    const { hash } = (await askAs.ann!("GET", "/w/acme/scripts/get/p/u/ann/own")).json();
    await flow("f/lent/hash", { type: "script", path: "u/ann/own", hash, input_transforms: {} });
    await flow("u/ann/inner", { type: "identity" });
    await flow("f/lent/flow", { type: "flow", path: "u/ann/inner", input_transforms: {} });
  });

  test.each([
    ["script", "u/ann/own", "script"],
    ["hash", "u/ann/own", "script"],
    ["flow", "u/ann/inner", "flow"],
  ])("to a %s it names", async (name, path, kind) => {
    const run = (who: string) => askAs[who]!("POST", `/w/acme/jobs/run_wait_result/f/f/lent/${name}`, {});
    expect((await run("ann")).text).toBe(kind === "flow" ? "{}" : '"of ann"');
    const refused = (await run("bob")).json();
    expect(refused.error.name).toBe("NotFound");
    expect(refused.error.message).toContain("u/bob");
    await expectOk(askAs.ann!("POST", `/w/acme/acls/add/${kind}/${path}`, { owner: "u/bob" }));
    expect((await run("bob")).text).toBe(kind === "flow" ? "{}" : '"of ann"');
    await expectOk(askAs.ann!("POST", `/w/acme/acls/remove/${kind}/${path}`, { owner: "u/bob" }));
    expect((await run("bob")).json().error.name).toBe("NotFound");
  });

  test("and does not reveal an unrunnable item to users who may not read it", async () => {
    await deploy(askAs.ann!, "acme", "u/ann/archived", "export const main = () => 1");
    const { hash } = (await askAs.ann!("GET", "/w/acme/scripts/get/p/u/ann/archived")).json();
    await expectOk(askAs.ann!("POST", "/w/acme/scripts/archive/p/u/ann/archived"));
    for (const target of ["p/u/ann/archived", `h/${hash}`]) {
      expect((await askAs.ann!("POST", `/w/acme/jobs/run/${target}`, {})).status).toBe(400);
      expect((await askAs.bob!("POST", `/w/acme/jobs/run/${target}`, {})).status).toBe(404);
    }
    await expectOk(askAs.ann!("POST", "/w/acme/flows/archive/u/ann/inner", {}));
    expect((await askAs.ann!("POST", "/w/acme/jobs/run/f/u/ann/inner", {})).status).toBe(400);
    expect((await askAs.bob!("POST", "/w/acme/jobs/run/f/u/ann/inner", {})).status).toBe(404);
  });
});

test("a webhook's token runs its script as long as its creator may", async () => {
  await admin("folders/create", { name: "hooks", extra_perms: { "u/bob": false } });
  await deploy(askAs.admin!, "acme", "f/hooks/x", "export const main = () => 'ran'");
  const body = { label: "webhook-x", scopes: ["jobs:run:scripts:f/hooks/x"], workspace_id: "acme" };
  const hook = server.as((await expectOk(askAs.bob!("POST", "/users/tokens/create", body))).text);
  const run = () => hook("POST", "/w/acme/jobs/run_wait_result/p/f/hooks/x", {});
  expect((await run()).text).toBe('"ran"');
  await admin("acls/remove/folder/hooks", { owner: "u/bob" });
  expect((await run()).status).toBe(404);
});
