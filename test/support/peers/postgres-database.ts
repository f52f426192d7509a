import { SQL } from "bun";

/** Connections to servers by URL, kept open for the whole process, because each costs PostgreSQL a process. */
const clients = new Map<string, SQL>();

function openClient(url: string): SQL {
  const client = clients.get(url) ?? new SQL({ url, max: 1 });
  clients.set(url, client);
  return client;
}

/**
 * Creates a database on the server of `base`. @param kind `migrated`: a copy of the migrated database of this
 * test run, if `postgres.ts` made one, which is ten times as fast as migrating
 */
export async function createDatabase(base: string, kind: "empty" | "migrated" = "empty") {
  const name = `${kind}_${crypto.randomUUID().replaceAll("-", "")}`;
  const template = kind === "migrated" ? process.env.SVC_TEST_DATABASE_TEMPLATE : undefined;
  const run = (text: string) => openClient(base).unsafe(text);
  // Copied as files: the default strategy also writes each page to the log, which takes three times as long.
  await run(`CREATE DATABASE ${name}${template ? ` TEMPLATE ${template} STRATEGY FILE_COPY` : ""}`);
  const url = new URL(base);
  url.pathname = `/${name}`;
  return {
    url: url.href,
    async drop() {
      await run(`DROP DATABASE ${name} WITH (FORCE)`);
    },
  };
}
