/** Labels of tokens that programs create for themselves; `session` is that of a login. */
const MACHINE_LABEL = /^(session$|ephemeral-script|debugger-token|mcp-oauth-|app-embed|sdk-)/;

/** Whether a program created the token for itself. Nobody is notified when such a token expires. */
export function isMachineLabel(label: string | null | undefined): boolean {
  return label != null && MACHINE_LABEL.test(label);
}
