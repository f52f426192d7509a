/** Groups whose members flows ask for approval. */
import { and, eq } from "drizzle-orm";
import { containsText } from "../../../database/conditions.ts";
import type { Reader } from "../../../database/database.ts";
import { isContainer } from "../../../lib/json/json.ts";
import { flowVersions } from "./tables.ts";

const FIELD = "user_groups_required";

/** Whether a version of a flow names a group whose members approve. Groups that an expression computes are unknown. */
export async function isApproverGroup(db: Reader, workspace_id: string, name: string): Promise<boolean> {
  const rows = await db
    .select({ value: flowVersions.value })
    .from(flowVersions)
    .where(
      and(
        eq(flowVersions.workspace_id, workspace_id),
        containsText(flowVersions.value, JSON.stringify(FIELD)),
        containsText(flowVersions.value, JSON.stringify(name)),
      ),
    );
  return rows.some(({ value }) => namesApprovers(value, name));
}

function namesApprovers(value: unknown, name: string): boolean {
  if (!isContainer(value)) return false;
  return Object.entries(value).some(([key, inner]) =>
    key === FIELD
      ? JSON.stringify(inner ?? null).includes(JSON.stringify(name))
      : namesApprovers(inner, name),
  );
}
