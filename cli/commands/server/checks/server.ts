/** Checks the server: whether it runs and is ready, and whether its port is free or its own. */
import { createServer } from "node:net";
import { join } from "node:path";
import { readLockOwner } from "../../../../src/lib/files/directory-lock.ts";
import type { Config } from "../../../../src/platform/config/config.ts";
import { createFailFinding, createOkFinding, createWarnFinding, type Finding } from "./finding.ts";

interface Health {
  status: string;
  checks: { ok: boolean; detail: string }[];
}

const REPLY_TIMEOUT_MS = 5_000;

export async function checkServer(config: Config): Promise<Finding[]> {
  const health = await readHealth(config.data_dir);
  const port = await checkPort(config, health !== undefined);
  if (!health) return [createOkFinding("server", "none is up on this data directory"), port];
  const process = readLockOwner(config.data_dir)?.pid;
  const license = await checkLicense(config.data_dir);
  const amiss = health.checks.filter((check) => !check.ok).map((check) => check.detail);
  if (amiss.length === 0)
    return [createOkFinding("server", `process ${process} is up and ready`), port, license];
  return [
    createFailFinding("server", `process ${process} is not ready: ${amiss.join("; ")}`, "see its log"),
    port,
    license,
  ];
}

/** Checks the license that a few operations require. */
async function checkLicense(data_dir: string): Promise<Finding> {
  try {
    const signal = AbortSignal.timeout(REPLY_TIMEOUT_MS);
    const answer = await fetch("http://localhost/api/ee_license", {
      unix: join(data_dir, "svc.sock"),
      signal,
    });
    const id = answer.ok ? (await answer.text()).trim() : "";
    if (id !== "") return createOkFinding("license", `${id} is valid`);
  } catch {
    // If the server does not answer, there is nothing to show.
  }
  return createOkFinding(
    "license",
    "none is set; four operations ask for one, all else works without (svc license)",
  );
}

async function readHealth(data_dir: string): Promise<Health | undefined> {
  try {
    const signal = AbortSignal.timeout(REPLY_TIMEOUT_MS);
    const answer = await fetch("http://localhost/api/health", { unix: join(data_dir, "svc.sock"), signal });
    return (await answer.json()) as Health;
  } catch {
    return undefined;
  }
}

async function checkPort({ host, port }: Config, isUp: boolean): Promise<Finding> {
  if (port === 0) return createOkFinding("port", "any free one");
  const code = await tryPort(host, port);
  if (code === undefined) return createOkFinding("port", `${port} on ${host} is free`);
  if (code === "EADDRINUSE") {
    if (isUp)
      return createOkFinding("port", `${port} on ${host} is in use, probably by the server that is up`);
    const advice = "stop the program that listens there, or choose another one with --port";
    return createFailFinding("port", `${port} on ${host} is in use by another program`, advice);
  }
  if (code === "EACCES") {
    const advice = "choose one from 1024 up, or give the executable CAP_NET_BIND_SERVICE";
    return createFailFinding("port", `${port} is not for this user`, advice);
  }
  return createWarnFinding("port", `${port} on ${host} cannot be listened on: ${code}`, "check --host");
}

function tryPort(host: string, port: number): Promise<string | undefined> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once("error", (cause: NodeJS.ErrnoException) => resolve(cause.code ?? cause.message));
    server.listen({ host, port, exclusive: true }, () => server.close(() => resolve(undefined)));
  });
}
