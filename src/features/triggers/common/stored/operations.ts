/** Operations on triggers that are stored and not run, the same for each kind. */
import { optionalField, withDefault } from "../../../../lib/zod/fields.ts";
import * as z from "../../../../lib/zod/z.ts";
import { type Operation, operation, responds } from "../../../../platform/http/operation.ts";
import { keepUnknownFields } from "../../../tenancy/rights/unknown-fields.ts";
import { isTriggerEnabled, TriggerMode } from "../mode.ts";
import { createTriggerOperations, triggerRecordFields } from "../trigger-operations.ts";
import { describeNotRun, STORED_KINDS, type StoredKind, type StoredKindName } from "./kinds.ts";
import * as service from "./service.ts";
import type { StoredTrigger } from "./tables.ts";

/** Fields that the server adds to a record; a client that sends a record back does not store them. */
const ADDED_FIELDS = ["workspace_id", "edited_at", "error", "server_id", "last_server_ping"];

const StoredTriggerBody = keepUnknownFields(
  z.object({
    path: z.string(),
    script_path: withDefault(z.string(), ""),
    is_flow: withDefault(z.boolean(), false),
    enabled: optionalField(z.boolean()),
    mode: TriggerMode,
  }),
  ADDED_FIELDS,
);

const toRow = ({ path, script_path, is_flow, enabled, mode, extra }: z.output<typeof StoredTriggerBody>) => ({
  path,
  script_path,
  is_flow,
  enabled: isTriggerEnabled(enabled, mode),
  value: { ...extra, ...(enabled !== undefined && { enabled }) },
});

const StoredTriggerRecord = z
  .object({
    ...triggerRecordFields,
    mode: TriggerMode,
    /** Of an enabled trigger: that it is not run. */
    error: z.string().nullish(),
  })
  .meta({ id: "StoredTrigger" });

function createStoredOperations(each: StoredKind & { kind: StoredKindName }) {
  const { kind, one, name } = each;
  const noun = `${kind}_triggers` as const;
  const base = `/w/{workspace}/${noun}` as const;
  const store = service.createStore(kind, one);
  return {
    create: operation({
      name: `create${name}Trigger`,
      method: "POST",
      path: `${base}/create`,
      access: "author",
      summary: `Store ${one} with all fields of the body; it is not run`,
      body: StoredTriggerBody,
      responds: responds.created("the path it is kept at"),
      audit: { operation: `${noun}.create`, action_kind: "Create" },
      run: async (ctx, { body }) => {
        await service.createStoredTrigger(ctx, store, toRow(body));
        return body.path;
      },
    }),
    update: operation({
      name: `update${name}Trigger`,
      method: "POST",
      path: `${base}/update/{path}`,
      access: "author",
      summary: `Replace ${one} by the fields of the body; it is not run`,
      body: StoredTriggerBody,
      responds: responds.text("the path it is kept at"),
      audit: { operation: `${noun}.update`, action_kind: "Update" },
      run: async (ctx, { path, body }) => {
        const { enabled, ...row } = toRow(body);
        const isSaid = body.enabled !== undefined || body.mode !== undefined;
        await service.updateStoredTrigger(ctx, store, path, { ...row, ...(isSaid && { enabled }) });
        return body.path;
      },
    }),
    ...createTriggerOperations({
      noun,
      name: `${name}Trigger`,
      audit: noun,
      store,
      record: StoredTriggerRecord,
      toRecord: (row: StoredTrigger) => toRecord(each, row),
      note: describeNotRun(each),
    }),
  };
}

function toRecord(kind: StoredKind, { value, kind: _, ...row }: StoredTrigger) {
  return {
    ...value,
    ...row,
    mode: service.toStoredMode({ enabled: row.enabled, value }),
    ...(row.enabled && { error: describeNotRun(kind) }),
  };
}

/** The operations of each kind, for typed calls. */
export const storedTriggerOperations = Object.fromEntries(
  STORED_KINDS.map((each) => [each.kind, createStoredOperations(each)]),
) as Record<StoredKindName, ReturnType<typeof createStoredOperations>>;

export const operationsOfStoredTriggers: Operation[] = Object.values(storedTriggerOperations).flatMap(
  (each): Operation[] => Object.values(each),
);
