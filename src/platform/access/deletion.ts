import { NotFound } from "../../lib/errors.ts";
import type { WorkspaceContext } from "../app/context.ts";
import { canManage } from "./permissions.ts";

/**
 * Deletes an item and succeeds if it is already gone. Existing clients keep a flow or app as a folder and send one
 * deletion per file. Only callers who could see an item at this path learn that there is none.
 * @param what the item's kind, such as `flow`
 * @returns the text of the response
 * @throws errors of `remove`; NotFound for callers who may not manage the path
 */
export async function deleteIfExists(
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
