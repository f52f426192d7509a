/** Everything that a server stores: what a thief of its disk and its database could read. */
import { readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { SQL } from "bun";
import type { TestServer } from "./harness.ts";

/** The texts of every file in a folder. */
export function readFiles(folder: string): string[] {
  return readdirSync(folder, { recursive: true, encoding: "utf8" }).flatMap((name) => {
    const path = join(folder, name);
    return statSync(path, { throwIfNoEntry: false })?.isFile() ? [readFileSync(path, "latin1")] : [];
  });
}

/** Every file of the data directory (including the embedded database), and on PostgreSQL every row. */
export async function readStored({ data_dir, server }: TestServer): Promise<string> {
  const texts = readFiles(data_dir);
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
