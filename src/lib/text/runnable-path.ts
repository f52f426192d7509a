/** What `script/<path>` or `flow/<path>` names; undefined for any other text. */
export function targetOfHandler(handler: string): { path: string } | { flow: string } | undefined {
  const [, kind, path] = /^(script|flow)\/(.+)$/.exec(handler) ?? [];
  if (path === undefined) return undefined;
  return kind === "flow" ? { flow: path } : { path };
}
