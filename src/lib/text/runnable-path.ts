/** Parses `script/<path>` or `flow/<path>`; undefined for other texts. */
export function parseRunnablePath(handler: string): { path: string } | { flow: string } | undefined {
  const [, kind, path] = /^(script|flow)\/(.+)$/.exec(handler) ?? [];
  if (path === undefined) return undefined;
  return kind === "flow" ? { flow: path } : { path };
}
