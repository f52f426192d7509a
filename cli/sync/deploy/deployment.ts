import type { ServiceClient } from "../../client/transport.ts";
import type { SecretsMode } from "../read/archive.ts";
import type { Item } from "../read/items.ts";

/** Target and options of a deployment of a folder's items. */
export interface Deployment {
  client: ServiceClient;
  workspace: string;
  secrets: SecretsMode;
  /** Message for the history of scripts, flows and apps. */
  message: string | undefined;
  /** The items on the service, by key. */
  remote: Map<string, Item>;
}
