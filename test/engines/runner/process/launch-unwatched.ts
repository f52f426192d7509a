/** Starts a process on a machine that cannot watch another one, and prints the outcome as JSON. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { writeRuntimeFiles } from "../../../../src/engines/runner/files/runtime-files.ts";
import { awaitMessage, launchChild } from "../../../../src/engines/runner/process/child.ts";
import type { Guard } from "../../../../src/engines/runner/process/guard.ts";
import { createSandbox } from "../../../../src/engines/runner/sandbox/sandbox.ts";
import { refuseCall } from "../refuse-call.ts";

const EPOLL_CTL = process.arch === "arm64" ? 21 : 233;
const ENOMEM = 12;

const directory = mkdtempSync(join(tmpdir(), "svc-launch-"));
const runtime = writeRuntimeFiles(directory);
const settings = {
  mode: "off",
  read: [],
  write: [],
  ports: undefined,
  max_file_bytes: 0,
  builds: 1,
  max_children: 1,
  max_processes: 0,
} as const;
const sandbox = createSandbox(
  { ...settings, read: [], write: [], data_dir: directory },
  runtime.launcher,
  directory,
  runtime.directory,
);
const watched = new Set<number>();
const guard: Guard = {
  watch: () => {},
  add: (pid) => watched.add(pid),
  remove: (pid) => watched.delete(pid),
  kill: async (pid) => void process.kill(pid, "SIGKILL"),
  sweep: async () => {},
  exemptOtherProcesses: () => {},
  stop: async () => {},
};
const faults: string[] = [];
process.on("uncaughtException", (cause) => faults.push(String(cause)));
process.on("unhandledRejection", (cause) => faults.push(String(cause)));
refuseCall(EPOLL_CTL, ENOMEM);

const child = launchChild({
  runtime,
  directory,
  guard,
  sandbox,
  inherited_environment: {},
  max_message_bytes: 1_000_000,
});
const said = await awaitMessage(child, "blank").catch((cause) => String(cause));
await child.destroy();
console.log(JSON.stringify({ said, watched: watched.size, faults }));
rmSync(directory, { recursive: true, force: true });
process.exit();
