/** The policy of an app names the code that may run by its hash, which changes with the code. */

import { parseFields } from "../../../src/lib/json/json.ts";
import { placesOfApp } from "../read/inline.ts";
import type { Fields } from "../read/items.ts";

const hashOf = (code: unknown): string => new Bun.CryptoHasher("sha256").update(String(code)).digest("hex");

/**
 * The fields to send: where the code of a component was changed and the policy was not, the policy follows.
 * @returns the local fields, with that policy
 */
export function withPolicyOf(local: Fields, remote: Fields): Fields {
  const policy = local.policy ?? remote.policy;
  if (policy === undefined || (local.policy !== undefined && !Bun.deepEquals(local.policy, remote.policy))) {
    return local;
  }
  const before = placesOfApp(remote.value);
  let text = JSON.stringify(policy);
  for (const [index, { title, code }] of placesOfApp(local.value).entries()) {
    const was = before[index];
    if (was?.title === title) text = text.replaceAll(hashOf(was.code.content), hashOf(code.content));
  }
  return { ...local, policy: parseFields(text) };
}
