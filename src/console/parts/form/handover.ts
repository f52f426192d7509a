/** Arguments that a page hands to the run form: in memory, so that they stand in no address and in no history. */
let handed: { address: string; args: Record<string, unknown> } | undefined;

/** @param address of the run form */
export function handOver(address: string, args: Record<string, unknown>): void {
  handed = { address, args };
}

/** Returns what was handed to a run form. The same until it is forgotten: a page may be rendered more than once. */
export const handedTo = (address: string): Record<string, unknown> | undefined =>
  handed?.address === address ? handed.args : undefined;

/** Forgets it, once the form is there. */
export function forgetHanded(): void {
  handed = undefined;
}
