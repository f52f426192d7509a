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

/** Beginning of the error of an item that is deployed, but whose dependencies cannot be resolved. */
export const STORED = "it is stored but cannot run: ";

/** Whether the error belongs to an item that is deployed, but whose dependencies cannot be resolved. */
export const isStored = (error: string): boolean => error.startsWith(STORED);
