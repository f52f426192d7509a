/** Lists the names of the `{parameters}` of a path template, in order. */
export function listParameterNames(path: string): string[] {
  return [...path.matchAll(/\{(\w+)\}/g)].map((match) => match[1]!);
}
