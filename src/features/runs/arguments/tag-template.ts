/** Templates of tags and concurrency keys: `$workspace`, `$args[customer]`, `$args[order.id]`. */
import { parseJson } from "../../../lib/json/json.ts";

const REFERENCE = /\$workspace\b|\$args\[([^[\]]+)\]/g;

/**
 * Renders a tag or concurrency key. A missing argument is empty; one that is not text is inserted as JSON.
 * @param scope.args JSON text of the arguments object
 */
export function renderTagTemplate(template: string, scope: { workspace_id: string; args: string }): string {
  if (!template.includes("$")) return template;
  let args: unknown;
  return template.replace(REFERENCE, (_, path: string | undefined) => {
    if (path === undefined) return scope.workspace_id;
    args ??= parseJson(scope.args);
    let at = args;
    for (const name of path.split(".")) at = (at as Record<string, unknown> | null | undefined)?.[name];
    if (at === undefined || at === null) return "";
    return typeof at === "string" ? at : JSON.stringify(at);
  });
}
