/** Locks and schemas that belong to the old code of a changed script. */
import { analyseScript } from "../../../src/engines/languages/reading/analyse.ts";
import type { Language, ScriptAnalysis } from "../../../src/engines/languages/types.ts";
import type { Fields } from "../read/items.ts";

/**
 * Drops the old code's lock and schema if the files still contain them unchanged, so that the service computes new
 * ones. A schema written by hand is kept.
 */
export async function dropStaleFields(fields: Fields, before: Fields | undefined): Promise<Fields> {
  if (!before || fields.content === before.content) return fields;
  const kept = { ...fields };
  if (await isLockStale(fields, before)) delete kept.lock;
  const found = await analyseFields(before);
  if (Bun.deepEquals(fields.schema, before.schema) && Bun.deepEquals(found?.schema, before.schema)) {
    delete kept.schema;
  }
  return kept;
}

/** Whether the lock belongs to the imports of the old code. */
export async function isLockStale(code: Fields, before: Fields | undefined): Promise<boolean> {
  if (!before || !code.lock || code.lock !== before.lock || code.content === before.content) return false;
  const [now, then] = await Promise.all([analyseFields(code), analyseFields(before)]);
  return !now || !then || !Bun.deepEquals(now.packages, then.packages);
}

/** Returns undefined if the code cannot be analysed here: it has a syntax error, or its interpreter is missing. */
export async function analyseFields({ language, content }: Fields): Promise<ScriptAnalysis | undefined> {
  return analyseScript(language as Language, String(content), { owner: "" }).catch(() => undefined);
}
