/**
 * Servers on which the sandbox is tested: of root and of a user, with and without Landlock, and in bubblewrap.
 */
import { chownSync } from "node:fs";
import { dirname, join } from "node:path";
import { detectSandboxSupport } from "../../../src/engines/runner/sandbox/support.ts";
import { createInstallation, type Installation, type Serving, setUp } from "./executable.ts";
import { clientOf, type ScriptClient } from "./scripts.ts";

export interface Variant {
  name: string;
  isRoot: boolean;
  /** Scripts have their own user ids, or see only their own mounts. */
  keepsModes: boolean;
  env: Record<string, string>;
  under: string[];
}

const NOBODY = 65_534;
const AS_NOBODY = ["setpriv", `--reuid=${NOBODY}`, `--regid=${NOBODY}`, "--clear-groups"];
const WITHOUT_LANDLOCK = [process.execPath, join(import.meta.dir, "sandbox/without-landlock.ts")];

const support = detectSandboxSupport();
export const isRoot = process.geteuid?.() === 0;
const bwrap = Bun.which("bwrap");

function works(under: string[]): boolean {
  return (
    bwrap !== null && Bun.spawnSync([...under, bwrap, "--ro-bind", "/", "/", "--unshare-pid", "true"]).success
  );
}

/**
 * Returns the ways to run the executable that this machine supports. Tests that run as root use `nobody` as
 * the user.
 */
export function variants(): Variant[] {
  if (process.platform !== "linux" || !support.seccomp) return [];
  const user = isRoot && Bun.which("setpriv") !== null ? AS_NOBODY : [];
  const found: Variant[] = [];
  for (const asRoot of isRoot ? [true, false] : [false]) {
    const who = asRoot ? "root" : "a user";
    const become = asRoot ? [] : user;
    if (!asRoot && isRoot && user.length === 0) continue;
    const base = { isRoot: asRoot, keepsModes: asRoot, env: {}, under: become };
    if (support.landlock > 0) found.push({ ...base, name: `${who}, with Landlock` });
    found.push({ ...base, name: `${who}, without Landlock`, under: [...become, ...WITHOUT_LANDLOCK] });
    if (!works(become)) continue;
    const env = { SVC_SANDBOX: "bwrap", PATH: `${dirname(bwrap!)}:/usr/bin:/bin` };
    found.push({ ...base, name: `${who}, in bubblewrap`, keepsModes: true, env });
  }
  return found;
}

/** Returns the ways to run it without a sandbox. */
export function listUnsandboxedVariants(): Variant[] {
  const env = { SVC_SANDBOX: "off" };
  return variants()
    .filter(({ name }) => name.endsWith("without Landlock"))
    .map((each) => ({
      ...each,
      name: `${each.isRoot ? "root" : "a user"}, with SVC_SANDBOX=off`,
      keepsModes: false,
      env,
    }));
}

/** Creates an installation whose files belong to the server's user. */
export function createVariantPlace({ under }: Pick<Variant, "under">): Installation {
  const place = createInstallation({ has_own_executable: true });
  if (under.includes("setpriv"))
    for (const path of [place.folder, join(place.folder, "svc")]) chownSync(path, NOBODY, NOBODY);
  return place;
}

export interface Started {
  place: Installation;
  server: Serving;
  scripts: ScriptClient;
  /** Ends the server with the signal, and starts it again. */
  again(signal?: NodeJS.Signals): Promise<void>;
}

export async function startVariant(variant: Variant, env: Record<string, string> = {}): Promise<Started> {
  const place = createVariantPlace(variant);
  const serve = () => place.serve({ env: { ...variant.env, ...env }, under: variant.under });
  const server = await serve();
  const token = await setUp(server);
  const started: Started = {
    place,
    server,
    scripts: clientOf(server, token),
    async again(signal = "SIGTERM") {
      started.server.process.kill(signal);
      await started.server.process.exited;
      started.server = await serve();
      started.scripts = clientOf(started.server, token);
    },
  };
  return started;
}
