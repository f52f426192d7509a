/** Deploys scripts and flows as new versions, whose locks and schemas may have to be recomputed. */

import { sleep } from "../../../src/lib/async/sleep.ts";
import {
  archiveFlowByPath,
  archiveScriptByPath,
  createFlow,
  createScript,
  createScriptSnapshot,
  getFlowDeploymentStatus,
  getScriptByPath,
  getScriptDeploymentStatus,
  updateFlow,
} from "../../client/operations/code.ts";
import { prependFileName } from "../../jobs/outcome.ts";
import { CliError } from "../../terminal/text/failure.ts";
import { listExplicitEmpty, toCanonicalFields } from "../read/canonical.ts";
import { listFlowCode } from "../read/inline.ts";
import { type Fields, getFileEnding, type Item } from "../read/items.ts";
import { type Deployment, STORED } from "./deployment.ts";
import { dropStaleFields, isLockStale } from "./stale-fields.ts";

/** Deploys a script as a new version. @throws CliError if it is rejected, or its dependencies cannot be resolved */
export async function deployScript(at: Deployment, item: Item, before: Item | undefined): Promise<void> {
  const { client, workspace, message } = at;
  const { path } = item;
  const now = await client.call(getScriptByPath, { workspace, path }).catch((cause: CliError) => {
    if (cause.name === "NotFound") return undefined;
    throw cause;
  });
  const fields = await dropStaleFields(toSentFields(item), before && toCanonicalFields(before));
  const parent_hash = now?.archived ? undefined : now?.hash;
  const body = { ...fields, path, parent_hash, deployment_message: message };
  const hash = await (item.bundle
    ? client.call(createScriptSnapshot, { workspace, form: createForm(body, await item.bundle()) } as never)
    : client.call(createScript, { workspace, body } as never));
  await waitUntilReady(async () => {
    const { lock, lock_error_logs } = await client.call(getScriptDeploymentStatus, { workspace, hash });
    const file = path + getFileEnding(String(fields.language));
    return {
      ready: lock !== undefined,
      lock_error_logs: lock_error_logs && prependFileName(lock_error_logs, file),
    };
  });
}

function createForm(script: Fields, bundle: string): FormData {
  const form = new FormData();
  form.append("script", JSON.stringify(script));
  form.append("file", bundle);
  return form;
}

/** Deploys a flow; an archived one is restored. @throws CliError as for scripts */
export async function deployFlow(at: Deployment, item: Item, before: Item | undefined): Promise<void> {
  const { client, workspace, message } = at;
  const { path } = item;
  const fields = toSentFields(item);
  const there = new Map(
    listFlowCode(before && toCanonicalFields(before).value).map(({ id, code }) => [id, code]),
  );
  for (const { id, code } of listFlowCode(fields.value)) {
    const now = there.get(id);
    if (await isLockStale(code, now)) delete code.lock;
  }
  const body = { ...fields, path, deployment_message: message };
  if (before) await client.call(updateFlow, { workspace, path, body } as never);
  else await client.call(createFlow, { workspace, body } as never);
  await waitUntilReady(() => client.call(getFlowDeploymentStatus, { workspace, path }));
}

const toSentFields = (item: Item) => ({ ...listExplicitEmpty(item), ...toCanonicalFields(item) });

export async function archiveScript({ client, workspace }: Deployment, path: string): Promise<void> {
  await client.call(archiveScriptByPath, { workspace, path });
}

export async function archiveFlow({ client, workspace }: Deployment, path: string): Promise<void> {
  await client.call(archiveFlowByPath, { workspace, path, body: { archived: true } });
}

const POLL_INTERVAL_MS = 100;

async function waitUntilReady(
  look: () => Promise<{ ready: boolean; lock_error_logs?: string | undefined }>,
): Promise<void> {
  for (;;) {
    const { ready, lock_error_logs } = await look();
    if (ready) return;
    if (lock_error_logs !== undefined) {
      throw new CliError("DependencyError", STORED + lock_error_logs.trimEnd());
    }
    await sleep(POLL_INTERVAL_MS);
  }
}
