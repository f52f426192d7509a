/** A server that `svc init` left running: found, stopped, and started again at its address. */
import { expect, test } from "bun:test";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { newPlace, start } from "../program.ts";

const INIT = ["init", "--email", "ann@example.org", "--password", "correct-horse", "--listen", "127.0.0.1:0"];

test("status and stop work on the server of the data directory, and serve remembers its address", async () => {
  using place = newPlace();
  const made = JSON.parse((await place.svc([...INIT, "--json"])).out) as { url: string; pid: number };
  try {
    const status = await place.svc(["status", "--json"]);
    expect({ code: status.code, ...JSON.parse(status.out) }).toMatchObject({
      code: 0,
      running: true,
      pid: made.pid,
      url: made.url,
      data_dir: place.data_dir,
    });
    expect((await place.svc(["status"])).out).toStartWith(`up at ${made.url}, as process ${made.pid} since `);
  } finally {
    const stopped = await place.svc(["stop"]);
    expect(stopped).toEqual({ code: 0, out: "", err: `stopped process ${made.pid} of ${place.data_dir}\n` });
  }
  expect((await place.svc(["stop"])).err).toBe(`no server is up on ${place.data_dir}\n`);
  const down = await place.svc(["status"]);
  expect(down).toEqual({
    code: 3,
    out: `no server is up on ${place.data_dir}\n`,
    err: `hint: svc serve --data-dir ${place.data_dir} starts it\n`,
  });

  using again = start(place, ["serve"]);
  expect(await again.says("svc listens on")).toContain(made.url);
  expect((await place.svc(["config", "get", "port"])).out.trim()).toBe(new URL(made.url).port);
  expect((await place.svc(["doctor"])).out).toContain(`${new URL(made.url).port} on 127.0.0.1 is taken`);
  await place.svc(["stop"]);

  // A login at this address is no login at a server that has stopped.
  expect(existsSync(join(place.data_dir, "serve.json"))).toBe(false);
  // What is said when it is started goes before what was remembered.
  using other = start(place, ["serve", "--port", "0"]);
  expect(await other.says("svc listens on")).not.toContain(made.url);
  await place.svc(["stop"]);
}, 60_000);
