import { SQL } from "bun";

/**
 * A database of its own on the server of `base`.
 * @param kind `migrated`: a copy of the run's migrated database where `postgres.ts` has made one, which takes a tenth
 *   of the time that the migrations take
 */
export async function createDatabase(base: string, kind: "empty" | "migrated" = "empty") {
  const name = `test_${crypto.randomUUID().replaceAll("-", "")}`;
  const template = kind === "migrated" ? process.env.SVC_TEST_DATABASE_TEMPLATE : undefined;
  const run = async (text: string) => {
    const client = new SQL({ url: base, max: 1 });
    await client.unsafe(text);
    await client.close();
  };
  await run(`CREATE DATABASE ${name}${template ? ` TEMPLATE ${template}` : ""}`);
  const url = new URL(base);
  url.pathname = `/${name}`;
  return { url: url.href, drop: () => run(`DROP DATABASE ${name} WITH (FORCE)`) };
}
