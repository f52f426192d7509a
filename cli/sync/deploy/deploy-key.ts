/** Deploys the encryption key of a workspace, so that secrets encrypted with it elsewhere can be decrypted. */
import { setEncryptionKey } from "../../client/operations/lifecycle.ts";
import type { Item } from "../read/items.ts";
import type { Deployment } from "./deployment.ts";

/**
 * Sets the workspace's encryption key; existing secrets are re-encrypted with it. @throws CliError with the service's
 * reason
 */
export async function deployKey({ client, workspace }: Deployment, { fields }: Item): Promise<void> {
  const body = { new_key: String(fields.key) };
  await client.call(setEncryptionKey, { workspace, body } as never);
}
