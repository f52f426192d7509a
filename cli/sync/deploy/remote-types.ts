import { fileResourceTypes } from "../../../src/features/assets/resources/type-operations.ts";
import type { Client } from "../../client/transport.ts";
import type { FileTypes } from "../read/files.ts";
import type { Item } from "../read/items.ts";

/** Which resource types are kept as files; asked only where there are resources. */
export async function fileTypesOf(client: Client, workspace: string, items: Item[]): Promise<FileTypes> {
  if (!items.some(({ kind }) => kind === "resource")) return {};
  return client.call(fileResourceTypes, { workspace });
}
