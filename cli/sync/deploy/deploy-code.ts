/** Scripts and flows: a new version each, whose locks and schemas may have to be found anew. */

import { analyseScript } from "../../../src/engines/languages/reading/analyse.ts";
import type { Language, ScriptAnalysis } from "../../../src/engines/languages/types.ts";
import {
  archiveFlowByPath,
  createFlow,
  getFlowDeploymentStatus,
  updateFlow,
} from "../../../src/features/code/flows/operations.ts";
import {
  archiveScriptByPath,
  createScript,
  getScriptByPath,
  getScriptDeploymentStatus,
} from "../../../src/features/code/scripts/operations.ts";
import { CliError } from "../../terminal/text/failure.ts";
import { canonical } from "../read/canonical.ts";
import { placesOfFlow } from "../read/inline.ts";
import type { Fields, Item } from "../read/items.ts";
import type { Deployment } from "./deployment.ts";

/** @throws CliError when it is refused, or when its dependencies cannot be found */
export async function deployScript(at: Deployment, item: Item, before: Item | undefined): Promise<void> {
  const { client, workspace, message } = at;
  const { path } = item;
  const now = await client.call(getScriptByPath, { workspace, path }).catch((cause: CliError) => {
    if (cause.name === "NotFound") return undefined;
    throw cause;
  });
  const fields = await withoutStale(canonical(item), before && canonical(before));
  const parent_hash = now?.archived ? undefined : now?.hash;
  const body = { ...fields, path, parent_hash, deployment_message: message };
  const hash = await client.call(createScript, { workspace, body } as never);
  await untilReady(async () => {
    const { lock, lock_error_logs } = await client.call(getScriptDeploymentStatus, { workspace, hash });
    return { ready: lock !== undefined, lock_error_logs };
  });
}

/** A flow that is archived is taken up again. @throws CliError as for scripts */
export async function deployFlow(at: Deployment, item: Item, before: Item | undefined): Promise<void> {
  const { client, workspace, message } = at;
  const { path } = item;
  const fields = canonical(item);
  const there = new Map(placesOfFlow(before && canonical(before).value).map(({ id, code }) => [id, code]));
  for (const { id, code } of placesOfFlow(fields.value)) {
    const now = there.get(id);
    if (await isLockStale(code, now)) delete code.lock;
  }
  const body = { ...fields, path, deployment_message: message };
  if (before) await client.call(updateFlow, { workspace, path, body } as never);
  else await client.call(createFlow, { workspace, body } as never);
  await untilReady(() => client.call(getFlowDeploymentStatus, { workspace, path }));
}

export async function archiveScript({ client, workspace }: Deployment, path: string): Promise<void> {
  await client.call(archiveScriptByPath, { workspace, path });
}

export async function archiveFlow({ client, workspace }: Deployment, path: string): Promise<void> {
  await client.call(archiveFlowByPath, { workspace, path, body: { archived: true } });
}

/**
 * The lock and the schema of the code before are not those of the code now: where the files still hold them, the service
 * finds them anew. A schema that somebody wrote by hand is kept.
 */
async function withoutStale(fields: Fields, before: Fields | undefined): Promise<Fields> {
  if (!before || fields.content === before.content) return fields;
  const kept = { ...fields };
  if (await isLockStale(fields, before)) delete kept.lock;
  const found = await analyse(before);
  if (Bun.deepEquals(fields.schema, before.schema) && Bun.deepEquals(found?.schema, before.schema)) {
    delete kept.schema;
  }
  return kept;
}

/** It was found for other imports. */
async function isLockStale(code: Fields, before: Fields | undefined): Promise<boolean> {
  if (!before || !code.lock || code.lock !== before.lock || code.content === before.content) return false;
  const [now, then] = await Promise.all([analyse(code), analyse(before)]);
  return !now || !then || !Bun.deepEquals(now.packages, then.packages);
}

/** Undefined where it cannot be read here: it does not parse, or its interpreter is missing. */
async function analyse({ language, content }: Fields): Promise<ScriptAnalysis | undefined> {
  return analyseScript(language as Language, String(content)).catch(() => undefined);
}

const POLL_MS = 100;

async function untilReady(
  look: () => Promise<{ ready: boolean; lock_error_logs?: string | undefined }>,
): Promise<void> {
  for (;;) {
    const { ready, lock_error_logs } = await look();
    if (ready) return;
    if (lock_error_logs !== undefined) {
      throw new CliError("DependencyError", `it is stored but cannot run: ${lock_error_logs.trimEnd()}`);
    }
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
  }
}
