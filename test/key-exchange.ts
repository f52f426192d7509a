/**
 * `bun test/key-exchange.ts <data directory> <n or after>`: exchanges the key of the workspace `acme`, and is killed
 * before so many of its statements have been done, or when all of them are.
 */
import { createApp } from "../src/app.ts";
import { loadConfig } from "../src/config.ts";
import type { Tx } from "../src/database/database.ts";
import { prepareExchange } from "../src/features/workspaces/key-rotation.ts";

const [data_dir, when] = process.argv.slice(2);
const { app } = await createApp(loadConfig({ data_dir, log_level: "fatal" }), "none");
const exchange = await prepareExchange(app, "acme", { text: "9".padStart(64, "k") });
const die = () => process.kill(process.pid, "SIGKILL");
await app.db.write(async (tx) => {
  let count = 0;
  const counting: Tx = Object.assign(Object.create(tx), {
    rows: (...given: Parameters<Tx["rows"]>) => {
      if (String(++count) === when) die();
      return tx.rows(...given);
    },
  });
  return exchange.store(counting);
});
die();
