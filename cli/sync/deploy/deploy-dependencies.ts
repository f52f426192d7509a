/** Deploys lists of workspace packages from the folder `dependencies`. */

import { parseDependencyFileName } from "../../../src/features/code/dependencies/dependency-files.ts";
import { createWorkspaceDependencies, deleteWorkspaceDependencies } from "../../client/operations/code.ts";
import type { SyncStep } from "../plan.ts";
import { getGlobName, type Item } from "../read/items.ts";
import type { Deployment } from "./deployment.ts";

/**
 * Creates or deletes a list of dependencies; a new list replaces the one of the same name.
 * @throws CliError with the service's reason
 */
export async function deployDependencies(
  { client, workspace }: Deployment,
  item: Item,
  change: SyncStep["change"],
): Promise<void> {
  const { language, name } = parseDependencyFileName(getGlobName(item))!;
  const named = name === "" ? {} : { name };
  if (change === "delete") {
    await client.call(deleteWorkspaceDependencies, { workspace, language, query: named } as never);
    return;
  }
  const body = { language, ...named, content: String(item.fields.content) };
  await client.call(createWorkspaceDependencies, { workspace, body } as never);
}
