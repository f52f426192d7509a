/** All that a server keeps: what a thief of its disk and its database would read. */
import { readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { SQL } from "bun";
import type { TestServer } from "./harness.ts";

/** Every file of the data directory (the embedded database among them), and on PostgreSQL every row. */
export async function readStored({ data_dir, server }: TestServer): Promise<string> {
  const texts: string[] = [];
  for (const name of readdirSync(data_dir, { recursive: true, encoding: "utf8" })) {
    const path = join(data_dir, name);
    if (statSync(path, { throwIfNoEntry: false })?.isFile()) texts.push(readFileSync(path, "latin1"));
  }
  const { database_url } = server.app.config;
  if (database_url) {
    const client = new SQL({ url: database_url, max: 1 });
    const tables =
      await client`SELECT table_name FROM information_schema.tables WHERE table_schema = 'public'`;
    for (const { table_name } of tables) {
      texts.push(JSON.stringify(await client.unsafe(`SELECT t::text FROM "${table_name}" t`)));
    }
    await client.close();
  }
  return texts.join("\n");
}
