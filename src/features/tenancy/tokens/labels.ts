/** Labels that programs give the tokens they make for themselves; `session` is a login's. */
const MACHINE = /^(session$|ephemeral-script|debugger-token|mcp-oauth-|app-embed|sdk-)/;

/** Whether nobody made the token for themselves: then its end is nobody's business. */
export function isMachineLabel(label: string | null | undefined): boolean {
  return label != null && MACHINE.test(label);
}
