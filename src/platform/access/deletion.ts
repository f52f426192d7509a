import { NotFound } from "../../lib/errors.ts";
import type { WorkspaceContext } from "../app/context.ts";
import { canManage } from "./permissions.ts";

/**
 * Deletes what may be gone already: existing clients keep flows and apps as folders, and delete one once for each of its
 * files. That nothing is there is told to those alone who would see whatever stands there.
 * @param what its kind, such as `flow`
 * @returns what to answer. @throws what `remove` throws; NotFound to others
 */
export async function deleteIfThere(
  { caller }: WorkspaceContext,
  what: string,
  path: string,
  remove: () => Promise<void>,
): Promise<string> {
  try {
    await remove();
    return `${what} ${path} deleted`;
  } catch (cause) {
    if (!(cause instanceof NotFound) || !canManage(caller.member, path)) throw cause;
    return `there is no ${what} ${path}: nothing is deleted`;
  }
}
