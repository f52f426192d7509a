/** A server that `svc init` started in the background: found, stopped, and started again at its address. */
import { expect, test } from "bun:test";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { createCliEnvironment, start } from "../../program.ts";

/** The file in which the server records the process that owns a data directory. */
const ownerFile = (data_dir: string) => join(data_dir, "svc.owner.json");

const INIT = ["init", "--email", "ann@example.org", "--password", "correct-horse", "--listen", "127.0.0.1:0"];

test("status and stop work on the server of the data directory, and serve remembers its address", async () => {
  using place = createCliEnvironment();
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
    // The log contains only JSON lines, without those from which init reads the address.
    const log = await Bun.file(join(place.data_dir, "serve.log")).text();
    for (const line of log.split("\n").filter(Boolean)) expect(JSON.parse(line)).toHaveProperty("level");
    expect(existsSync(join(place.data_dir, "serve.answer"))).toBe(false);
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
  expect((await place.svc(["doctor"])).out).toContain(`${new URL(made.url).port} on 127.0.0.1 is in use`);
  await place.svc(["stop"]);

  // A login at this address does not apply to a server that has stopped.
  expect(existsSync(join(place.data_dir, "serve.json"))).toBe(false);
  // Options given at the start take precedence over stored ones.
  using other = start(place, ["serve", "--port", "0"]);
  expect(await other.says("svc listens on")).not.toContain(made.url);
  await place.svc(["stop"]);
}, 60_000);

test.skipIf(process.platform !== "linux")(
  "stop signals no process but the server, whatever process has its id here",
  async () => {
    using place = createCliEnvironment();
    using server = start(place, ["serve", "--port", "0"]);
    await server.says("svc listens on");
    const written = await Bun.file(ownerFile(place.data_dir)).json();
    const bystander = Bun.spawn(["sleep", "600"]);
    try {
      // A server in a container records its process id in the container.
      await Bun.write(ownerFile(place.data_dir), JSON.stringify({ ...written, pid: bystander.pid }));
      const refused = await place.svc(["stop", "--timeout", "1"]);
      expect([refused.code === 0, refused.err]).toEqual([
        false,
        expect.stringContaining(
          `the server of ${place.data_dir} is not a process that can be seen from here`,
        ),
      ]);
      expect(refused.err).toContain("stop it there");
      expect([bystander.exitCode, bystander.signalCode]).toEqual([null, null]);
      expect((await place.svc(["status"])).code).toBe(0);
    } finally {
      bystander.kill();
      await Bun.write(ownerFile(place.data_dir), JSON.stringify(written));
      expect((await place.svc(["stop"])).code).toBe(0);
    }
  },
  60_000,
);
