/** Tags and concurrency keys may name the workspace and arguments: `$workspace`, `$args[customer]`, `$args[order.id]`. */
import { parseJson } from "../../../lib/json/json.ts";

const REFERENCE = /\$workspace\b|\$args\[([^\]]+)\]/g;

/**
 * Fills in what a tag or key refers to. An argument that is missing counts as empty; one that is no text stands as JSON.
 * @param scope.args JSON text of the arguments object
 */
export function interpolate(template: string, scope: { workspace_id: string; args: string }): string {
  if (!template.includes("$")) return template;
  return template.replace(REFERENCE, (_, path: string | undefined) => {
    if (path === undefined) return scope.workspace_id;
    let at: unknown = parseJson(scope.args);
    for (const name of path.split(".")) at = (at as Record<string, unknown> | null | undefined)?.[name];
    if (at === undefined || at === null) return "";
    return typeof at === "string" ? at : JSON.stringify(at);
  });
}
