/** Passes arguments to the run form in memory, so that they appear neither in an address nor in the history. */
let handed: { address: string; args: Record<string, unknown> } | undefined;

/** Stores arguments in memory until the run form at an address takes them. @param address of the run form */
export function passArguments(address: string, args: Record<string, unknown>): void {
  handed = { address, args };
}

/**
 * Returns the arguments passed to a run form. Reading does not remove them, because a page may be rendered more than
 * once.
 */
export const getPassedArguments = (address: string): Record<string, unknown> | undefined =>
  handed?.address === address ? handed.args : undefined;

/** Removes the passed arguments; called once the form is rendered. */
export function clearPassedArguments(): void {
  handed = undefined;
}
