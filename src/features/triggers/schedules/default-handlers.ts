/** Default handlers of a workspace, for schedules without handlers of their own. */
import { eq } from "drizzle-orm";
import type { WorkspaceContext } from "../../../platform/app/context.ts";
import { editSettings, type WorkspaceSettingValues } from "../../tenancy/workspaces/settings.ts";
import { type Schedule, schedules } from "./tables.ts";

export const HANDLER_TYPES = ["error", "recovery", "success"] as const;
export type HandlerType = (typeof HANDLER_TYPES)[number];

type Handler = NonNullable<WorkspaceSettingValues["default_error_handler"]>;

/** The fields of a schedule that a default handler sets; undefined clears them. */
const HANDLER_FIELDS: Record<HandlerType, (handler: Handler | undefined) => Partial<Schedule>> = {
  error: (handler) => ({
    on_failure: handler?.path ?? null,
    on_failure_times: handler?.times ?? null,
    on_failure_exact: handler?.exact ?? null,
    on_failure_extra_args: handler?.extra_args ?? null,
    ws_error_handler_muted: handler?.workspace_handler_muted ?? false,
  }),
  recovery: (handler) => ({
    on_recovery: handler?.path ?? null,
    on_recovery_times: handler?.times ?? null,
    on_recovery_extra_args: handler?.extra_args ?? null,
  }),
  success: (handler) => ({
    on_success: handler?.path ?? null,
    on_success_extra_args: handler?.extra_args ?? null,
  }),
};

type OwnHandlers = Pick<Schedule, "on_failure" | "on_recovery" | "on_success" | "ws_error_handler_muted">;

/**
 * Returns the fields that a new schedule takes from the defaults, for each handler it does not name itself. The
 * workspace's error handler stays muted if the schedule mutes it.
 */
export function createDefaultHandlerFields(
  { on_failure, on_recovery, on_success, ws_error_handler_muted }: OwnHandlers,
  settings: WorkspaceSettingValues,
): Partial<Schedule> {
  const named = { error: on_failure, recovery: on_recovery, success: on_success };
  const taken = HANDLER_TYPES.filter((type) => !named[type] && settings[`default_${type}_handler`]);
  const fields = taken.map((type) => HANDLER_FIELDS[type](settings[`default_${type}_handler`]));
  return Object.assign({}, ...fields, ws_error_handler_muted && { ws_error_handler_muted });
}

/** Stores a default handler. With `override_existing` it also replaces the handler of every schedule. */
export async function storeDefaultHandler(
  ctx: WorkspaceContext,
  type: HandlerType,
  { handler, override_existing }: { handler: Handler | undefined; override_existing: boolean },
): Promise<void> {
  const { workspace_id } = ctx.caller.member;
  const change = { [`default_${type}_handler`]: handler };
  const parameters = { type, path: handler?.path ?? "", override_existing: String(override_existing) };
  await editSettings(ctx, change, parameters, async (tx) => {
    if (!override_existing) return;
    await tx
      .update(schedules)
      .set(HANDLER_FIELDS[type](handler))
      .where(eq(schedules.workspace_id, workspace_id));
  });
}
