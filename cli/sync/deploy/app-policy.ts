/** App policies identify permitted code by its hash, so a policy changes with the code. */

import { parseSchemaJson } from "../../../src/lib/json/json.ts";
import { listAppCode } from "../read/inline.ts";
import type { Fields } from "../read/items.ts";

const hashCode = (code: unknown): string => new Bun.CryptoHasher("sha256").update(String(code)).digest("hex");

/**
 * Updates the policy's hashes if a component's code was changed and the policy was not.
 * @returns the local fields with that policy
 */
export function updatePolicy(local: Fields, remote: Fields): Fields {
  const policy = local.policy ?? remote.policy;
  if (policy === undefined || (local.policy !== undefined && !Bun.deepEquals(local.policy, remote.policy))) {
    return local;
  }
  const before = listAppCode(remote.value);
  let text = JSON.stringify(policy);
  for (const [index, { title, code }] of listAppCode(local.value).entries()) {
    const was = before[index];
    if (was?.title === title) text = text.replaceAll(hashCode(was.code.content), hashCode(code.content));
  }
  return { ...local, policy: parseSchemaJson(text) };
}
