import type { Client } from "../../client/transport.ts";
import type { Secrets } from "../read/archive.ts";
import type { Item } from "../read/items.ts";

/** Where a folder's items are deployed to, and how. */
export interface Deployment {
  client: Client;
  workspace: string;
  secrets: Secrets;
  /** What changed, for the history of scripts, flows and apps. */
  message: string | undefined;
  /** The items that the service has now, by key. */
  remote: Map<string, Item>;
}
