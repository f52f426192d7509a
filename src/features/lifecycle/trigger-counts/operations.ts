import * as z from "../../../lib/zod/z.ts";
import { findReadable, NotRunnable } from "../../../platform/access/permissions.ts";
import type { WorkspaceContext } from "../../../platform/app/context.ts";
import { type Operation, operation, responds } from "../../../platform/http/operation.ts";
import { countTriggers } from "./counts.ts";

const CountField = z.number();

const TriggersCountRecord = z
  .object({
    primary_schedule: z.object({ schedule: z.string() }).optional(),
    schedule_count: CountField,
    http_routes_count: CountField,
    webhook_count: CountField,
    email_count: CountField,
    websocket_count: CountField,
    postgres_count: CountField,
    kafka_count: CountField,
    nats_count: CountField,
    mqtt_count: CountField,
    amqp_count: CountField,
    sqs_count: CountField,
    gcp_count: CountField,
    azure_count: CountField,
  })
  .meta({ id: "TriggersCount" });

async function countReadable(ctx: WorkspaceContext, path: string, is_flow: boolean) {
  const { app, caller } = ctx;
  const { workspace_id } = caller.member;
  const kind = app.features
    .flatMap(({ runnableKind = [] }) => runnableKind)
    .find((each) => each.is_flow === is_flow)!;
  await findReadable(caller.member, `${is_flow ? "flow" : "script"} ${path}`, () =>
    kind.deployedByPath(app, workspace_id, path),
  ).catch((cause) => {
    // Archived and undeployed versions may still have triggers.
    if (!(cause instanceof NotRunnable)) throw cause;
  });
  return TriggersCountRecord.parse(await countTriggers(app, { workspace_id, path, is_flow }));
}

const getTriggersCountOfScript = operation({
  name: "getTriggersCountOfScript",
  method: "GET",
  path: "/w/{workspace}/scripts/get_triggers_count/{path}",
  access: "member",
  summary: "Count the triggers of a script: schedules, routes, WebSockets, stored kinds and webhook tokens",
  responds: responds.json(TriggersCountRecord),
  run: (ctx, { path }) => countReadable(ctx, path, false),
});

const getTriggersCountOfFlow = operation({
  name: "getTriggersCountOfFlow",
  method: "GET",
  path: "/w/{workspace}/flows/get_triggers_count/{path}",
  access: "member",
  summary: "Count the triggers of a flow: schedules, routes, WebSockets, stored kinds and webhook tokens",
  responds: responds.json(TriggersCountRecord),
  run: (ctx, { path }) => countReadable(ctx, path, true),
});

export const triggersCountOperations: Operation[] = [getTriggersCountOfScript, getTriggersCountOfFlow];
