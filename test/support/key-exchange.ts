/**
 * A program of its own, `<data directory> <n or after>`: exchanges the key of the workspace `acme`, and is killed
 * before so many of its statements have been done, or when all of them are.
 */
import type { Tx } from "../../src/database/database.ts";

/** Where this program is. */
export const KEY_EXCHANGE = import.meta.path;

async function exchangeAndDie(data_dir: string, when: string): Promise<void> {
  const { createApp } = await import("../../src/server/app.ts");
  const { loadConfig } = await import("../../src/platform/config/config.ts");
  const { prepareKeyRotation } = await import("../../src/features/lifecycle/keys/key-rotation.ts");
  const { app } = await createApp(loadConfig({ data_dir, log_level: "fatal" }), "none");
  const exchange = await prepareKeyRotation(app, "acme", { text: "9".padStart(64, "k") });
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
}

if (import.meta.main) await exchangeAndDie(process.argv[2]!, process.argv[3]!);
