/** Keys by which a result says what is to become of it: contract §4.11. */

/** Three spellings of each: the contract's two, and the one existing scripts use. */
export const PREFIXES = ["wm_", "svc_", "windmill_"] as const;

/** @param key without its prefix, such as `failure` */
export function control(value: Record<string, unknown>, key: string): unknown {
  for (const prefix of PREFIXES) if (value[prefix + key] !== undefined) return value[prefix + key];
  return undefined;
}
