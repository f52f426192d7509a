/** A full disk: what cannot be stored is rejected, and the server continues. */
import { afterAll, describe, expect, test } from "bun:test";
import { readdirSync } from "node:fs";
import { createInstallation, type Installation, setUp, until } from "../executable.ts";

const places: Installation[] = [];
const place = () => {
  const made = createInstallation();
  places.push(made);
  return made;
};
afterAll(() => {
  for (const made of places) made.remove();
});

describe("a disk that is full", () => {
  test("at the database's size limit calls report it, nothing is lost, and the server continues", async () => {
    const made = place();
    const server = await made.serve({ env: { SVC_MAX_DATABASE_MB: "1" } });
    const token = await setUp(server);
    const headers = { authorization: `Bearer ${token}` };
    const content = "export const main = (text: string) => text.length";
    await server.operator("/w/acme/scripts/create", { path: "u/ann/length", language: "bun", content });
    const accepted: string[] = [];
    let refused: Response | undefined;
    for (let n = 0; n < 100 && !refused; n++) {
      const body = JSON.stringify({ text: "x".repeat(50_000) });
      const answer = await fetch(`${server.url}/api/w/acme/jobs/run/p/u/ann/length`, {
        method: "POST",
        headers,
        body,
      });
      if (answer.status === 201) accepted.push(await answer.text());
      else refused = answer;
    }
    expect(refused?.status).toBe(507);
    expect(refused?.headers.get("svc-error")).toBe("StorageFull");
    expect(await refused!.text()).toContain("nothing was stored");
    expect((await fetch(`${server.url}/api/version`)).status).toBe(200);
    const known = await fetch(`${server.url}/api/w/acme/jobs/list`, { headers }).then(
      (answer) => answer.json() as Promise<any[]>,
    );
    expect(known.map((job) => job.id).filter((id) => accepted.includes(id)).length).toBe(accepted.length);
    process.kill(server.pid, "SIGKILL");
    await server.process.exited;
    const roomier = await made.serve();
    for (const id of accepted) {
      await until(async () => {
        const answer = await fetch(`${roomier.url}/api/w/acme/jobs_u/completed/get_result/${id}`, {
          headers,
        });
        return answer.status === 200 ? true : undefined;
      }, id);
    }
    process.kill(roomier.pid, "SIGTERM");
    await roomier.process.exited;
  }, 60_000);

  test("a limit on file sizes does not kill the server", async () => {
    const made = place();
    const server = await made.serve({ under: ["bash", "-c", 'ulimit -f 3000; exec "$@"', "bash"] });
    const token = await setUp(server);
    const headers = { authorization: `Bearer ${token}` };
    await server.operator("/w/acme/scripts/create", {
      path: "u/ann/one",
      language: "bun",
      content: "export const main = () => 1",
    });
    let status = 0;
    for (let n = 0; n < 60 && status < 300; n++) {
      const body = JSON.stringify({ text: "x".repeat(100_000) });
      status = (
        await fetch(`${server.url}/api/w/acme/jobs/run/p/u/ann/one`, { method: "POST", headers, body })
      ).status;
    }
    expect(status).toBe(507);
    expect((await fetch(`${server.url}/api/version`)).status).toBe(200);
    process.kill(server.pid, "SIGKILL");
    await server.process.exited;
    expect(readdirSync(made.data_dir)).toContain("svc.db");
  }, 60_000);
});
