/** Scripts that restart after each run, until they are canceled. */
import { describe, expect, test } from "bun:test";
import { deploy, expectOk, until } from "../../../support/harness.ts";
import { ask, completed, jobs, setUpOptions, start } from "./options-setup.ts";

setUpOptions();

describe("a script that restarts until it is canceled", () => {
  test("runs again after success and failure, with the same arguments, until all its runs are canceled", async () => {
    const content = `export function main(n: number) { if (n % 2) throw new Error("odd"); return n }`;
    await deploy(ask, "acme", "u/admin/perpetual", content, { restart_unless_cancelled: true });
    const first = await start("u/admin/perpetual", { n: 3 });
    expect((await completed(first)).success).toBe(false);
    const next = await until(async () => {
      const list = (await ask("GET", `${jobs}/list?script_path_exact=u/admin/perpetual`)).json();
      return list.find((job: any) => job.type === "QueuedJob" && job.id !== first);
    }, "the run that follows");
    expect((await ask("GET", `${jobs}_u/get_args/${next.id}`)).json()).toEqual({ n: 3 });
    expect(Date.parse(next.scheduled_for) - Date.parse((await completed(first)).started_at)).toBe(1000);
    const canceled = await ask("POST", `${jobs}_u/queue/cancel_persistent/u/admin/perpetual`, {});
    expect([canceled.status, canceled.text]).toEqual([200, ""]);
    await completed(next.id);
    const list = (await ask("GET", `${jobs}/list?script_path_exact=u/admin/perpetual`)).json();
    expect(list.filter((job: any) => job.type === "QueuedJob")).toEqual([]);
  });

  test("continues with a cached result", async () => {
    const options = { restart_unless_cancelled: true, cache_ttl: 600 };
    await deploy(ask, "acme", "u/admin/perpetual_cached", "export const main = () => 1", options);
    await start("u/admin/perpetual_cached");
    await until(async () => {
      const path = `${jobs}/completed/list?script_path_exact=u/admin/perpetual_cached`;
      return (await ask("GET", path)).json().length > 2 ? true : undefined;
    }, "the third run");
    await expectOk(ask("POST", `${jobs}_u/queue/cancel_persistent/u/admin/perpetual_cached`, {}));
  });

  test("stops when a newer version does not have the option", async () => {
    const content = "export async function main() { await Bun.sleep(300); return 1 }";
    await deploy(ask, "acme", "u/admin/retired", content, { restart_unless_cancelled: true });
    const id = await start("u/admin/retired");
    await deploy(ask, "acme", "u/admin/retired", "export const main = () => 2");
    await completed(id);
    const list = (await ask("GET", `${jobs}/list?script_path_exact=u/admin/retired`)).json();
    expect(list.map((job: any) => job.id)).toEqual([id]);
  });
});
