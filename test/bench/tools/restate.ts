/**
 * Restate beside us: its own server and SDK, fetched from npm into a temporary folder, with the three durable steps that
 * our flow of three scripts has. `bun run bench --peers` asks for it, since it downloads some hundred megabytes.
 */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { stop } from "./processes.ts";

const SERVER = "@restatedev/restate-server@1.7.12";
const SDK = "@restatedev/restate-sdk@1.17.2";
/** The SDK needs a newer version than some machines have. */
const NODE = "node@22.21.1";

/** Each step adds one, as the scripts of our flow do; each is in Restate's journal before the next begins. */
const SERVICE = `
import * as restate from "@restatedev/restate-sdk";
const three = restate.service({
  name: "three",
  handlers: {
    run: async (ctx, { n }) => {
      const a = await ctx.run("a", () => n + 1);
      const b = await ctx.run("b", () => a + 1);
      return await ctx.run("c", () => b + 1);
    },
  },
});
const port = await restate.serve({ services: [three], port: Number(process.argv[2]) });
console.log("ready " + port);
`;

export interface Restate {
  /** POST to this URL runs the three steps and returns the result. */
  url: string;
  stop: () => Promise<void>;
}

/** @throws if npm, node or the server is unavailable */
export async function startRestate(): Promise<Restate> {
  const folder = mkdtempSync(join(tmpdir(), "svc-bench-restate-"));
  writeFileSync(join(folder, "package.json"), '{"private":true,"type":"module"}');
  writeFileSync(join(folder, "service.js"), SERVICE);
  const install = Bun.spawn(["npm", "install", "--no-audit", "--no-fund", SERVER, SDK, NODE], {
    cwd: folder,
    stdout: "ignore",
    stderr: "pipe",
  });
  if ((await install.exited) !== 0) throw new Error(await new Response(install.stderr).text());
  const [service, ingress, admin, node] = await Promise.all([freePort(), freePort(), freePort(), freePort()]);
  const handlers = Bun.spawn([join(folder, "node_modules/.bin/node"), "service.js", String(service)], {
    cwd: folder,
    stdout: "ignore",
    stderr: "ignore",
  });
  const server = Bun.spawn(
    [join(folder, "node_modules/.bin/restate-server"), "--base-dir", join(folder, "data")],
    {
      cwd: folder,
      stdout: "ignore",
      stderr: "ignore",
      env: {
        ...process.env,
        RESTATE_INGRESS__BIND_ADDRESS: `127.0.0.1:${ingress}`,
        RESTATE_ADMIN__BIND_ADDRESS: `127.0.0.1:${admin}`,
        RESTATE_BIND_ADDRESS: `127.0.0.1:${node}`,
        RESTATE_ADVERTISED_ADDRESS: `http://127.0.0.1:${node}`,
        RESTATE_DISABLE_TELEMETRY: "true",
      },
    },
  );
  const end = async () => {
    await Promise.all([stop(handlers), stop(server)]);
    rmSync(folder, { recursive: true, force: true });
  };
  try {
    await register(`http://127.0.0.1:${admin}/deployments`, `http://127.0.0.1:${service}`);
  } catch (cause) {
    await end();
    throw cause;
  }
  return { url: `http://127.0.0.1:${ingress}/three/run`, stop: end };
}

/** The server discovers the handlers once both are up. */
async function register(deployments: string, uri: string): Promise<void> {
  let last: unknown;
  for (let tries = 0; tries < 300; tries++) {
    try {
      const answer = await fetch(deployments, {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify({ uri }),
      });
      if (answer.ok) return;
      last = `${answer.status} ${await answer.text()}`;
    } catch (cause) {
      last = cause;
    }
    await Bun.sleep(100);
  }
  throw new Error(`Restate did not take the service: ${last}`);
}

async function freePort(): Promise<number> {
  const probe = Bun.serve({ port: 0, hostname: "127.0.0.1", fetch: () => new Response() });
  const { port } = probe;
  await probe.stop(true);
  return port!;
}
