import { fileResourceTypes } from "../../client/operations/assets.ts";
import type { ServiceClient } from "../../client/transport.ts";
import type { FileTypes } from "../read/files.ts";
import type { Item } from "../read/items.ts";

/** Reads which resource types are stored as files, if there are resources. */
export async function readFileTypes(
  client: ServiceClient,
  workspace: string,
  items: Item[],
): Promise<FileTypes> {
  if (!items.some(({ kind }) => kind === "resource")) return {};
  return client.call(fileResourceTypes, { workspace });
}
