/** Arguments that a page hands to the run form: in memory, so that they stand in no address and in no history. */
let handed: { address: string; args: Record<string, unknown> } | undefined;

/** @param address of the run form */
export function handOver(address: string, args: Record<string, unknown>): void {
  handed = { address, args };
}

/** Returns what was handed to a run form, once. */
export function takeOver(address: string): Record<string, unknown> | undefined {
  const found = handed?.address === address ? handed.args : undefined;
  handed = undefined;
  return found;
}
