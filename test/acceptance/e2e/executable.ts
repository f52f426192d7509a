/** Starts the compiled executable, alone in a folder, with only the system's programs on the PATH. */
import { chmodSync, copyFileSync, linkSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Subprocess } from "bun";
import { createDatabase } from "../../support/peers/postgres-database.ts";

export const BUILT = process.env.SVC_TEST_EXECUTABLE ?? join(import.meta.dir, "../../../dist/svc");

export interface Installation {
  folder: string;
  data_dir: string;
  environment: Record<string, string>;
  /** Runs a command to its end. */
  svc: (
    args: string[],
    options?: { stdin?: string; env?: Record<string, string> },
  ) => Promise<{ code: number; out: string; err: string }>;
  serve: (options?: { env?: Record<string, string>; under?: string[] }) => Promise<Serving>;
  remove: () => void;
}

export interface Serving {
  url: string;
  setup_url: string | undefined;
  pid: number;
  process: Subprocess;
  /** As the local admin. @throws if it is rejected */
  operator: (path: string, body: unknown) => Promise<string>;
}

/**
 * @param has_own_executable whether tests may change its owner and mode: usually all installations share one
 * file
 */
export function createInstallation({ has_own_executable = false } = {}): Installation {
  const folder = mkdtempSync(join(tmpdir(), "svc-e2e-"));
  // The usual modes of executables and data directories: others can reach them, and what is inside is the
  // server's to protect.
  chmodSync(folder, 0o755);
  const executable = join(folder, "svc");
  if (has_own_executable) copyFileSync(BUILT, executable);
  else shareFile(BUILT, executable);
  const data_dir = join(folder, "data");
  const environment = { PATH: "/usr/bin:/bin", HOME: folder, SVC_DATA_DIR: data_dir, SVC_LOG_LEVEL: "error" };
  const servers: { pid: number; process: Subprocess }[] = [];
  let database: Promise<{ url: string }> | undefined;
  /** With `bun run test:postgres`, each installation has its own database, which is dropped after the run. */
  const databaseEnvironment = async (): Promise<Record<string, string>> => {
    const postgres = process.env.DATABASE_URL;
    if (!postgres) return {};
    database ??= createDatabase(postgres, "migrated");
    return { DATABASE_URL: (await database).url };
  };
  return {
    folder,
    data_dir,
    environment,
    async svc(args, options = {}) {
      const child = Bun.spawn([executable, ...args], {
        cwd: folder,
        env: { ...environment, ...(await databaseEnvironment()), ...options.env },
        stdin: options.stdin === undefined ? "ignore" : new TextEncoder().encode(options.stdin),
        stdout: "pipe",
        stderr: "pipe",
      });
      const [out, err, code] = await Promise.all([child.stdout.text(), child.stderr.text(), child.exited]);
      return { code, out, err };
    },
    async serve(options = {}) {
      const child = Bun.spawn([...(options.under ?? []), executable, "serve", "--port", "0", "--json"], {
        cwd: folder,
        env: { ...environment, ...(await databaseEnvironment()), ...options.env },
        stdin: "ignore",
        stdout: "pipe",
        stderr: "pipe",
      });
      let text = "";
      for await (const piece of child.stdout) {
        text += new TextDecoder().decode(piece);
        if (text.includes("\n}\n")) break;
      }
      if (text === "") throw new Error(`the server did not start: ${await child.stderr.text()}`);
      const { url, setup_url, pid } = JSON.parse(text);
      servers.push({ pid, process: child });
      const operator = async (path: string, body: unknown) => {
        const response = await fetch(`http://localhost/api${path}`, {
          unix: join(data_dir, "svc.sock"),
          method: "POST",
          body: JSON.stringify(body),
        });
        const answer = await response.text();
        if (!response.ok) throw new Error(`${path}: ${response.status} ${answer}`);
        return answer;
      };
      return { url, setup_url, pid, process: child, operator };
    },
    remove() {
      // Servers of tests that failed midway.
      for (const { pid, process: started } of servers) {
        if (started.exitCode === null && started.signalCode === null) process.kill(pid, "SIGKILL");
      }
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** Links a file, or copies it to another file system. */
function shareFile(from: string, to: string): void {
  try {
    linkSync(from, to);
  } catch {
    copyFileSync(from, to);
  }
}

/** Creates a user, a workspace `acme` and a token. */
export async function setUp(server: Serving): Promise<string> {
  await server.operator("/users/create", {
    email: "ann@example.org",
    password: "secret-password",
    super_admin: true,
    username: "ann",
  });
  await server.operator("/workspaces/create", { id: "acme", name: "Acme", owner: "ann@example.org" });
  return server.operator("/users/tokens/impersonate", { impersonate_email: "ann@example.org" });
}

export async function until<T>(
  look: () => Promise<T | undefined> | T | undefined,
  what: string,
  ms = 30_000,
): Promise<Exclude<T, false>> {
  const end = Date.now() + ms;
  for (;;) {
    const value = await look();
    if (value !== undefined && value !== false) return value as Exclude<T, false>;
    if (Date.now() > end) throw new Error(`waited too long for ${what}`);
    await Bun.sleep(20);
  }
}

/** Processes whose command line holds the text. */
export async function processesOf(text: string): Promise<string[]> {
  const listed = await new Response(Bun.spawn(["ps", "-eo", "pid,args"], { stdout: "pipe" }).stdout).text();
  return listed.split("\n").filter((line) => line.includes(text) && !line.includes("ps -eo"));
}
