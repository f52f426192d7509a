import { BadRequest } from "../errors.ts";

const UNITS: Record<string, number> = { s: 1, m: 60, h: 3600, d: 86_400, w: 604_800 };

/**
 * Parses a duration such as `90s`, `15m`, `72h`, `30d`, `2w`.
 * @returns whole seconds
 * @throws BadRequest for any other text
 */
export function parseDuration(text: string): number {
  const match = /^(\d+)([smhdw])$/.exec(text.trim());
  if (!match)
    throw new BadRequest(`"${text}" is not a duration: write a number and s, m, h, d or w, such as 30d`);
  return Number(match[1]) * UNITS[match[2]!]!;
}

/** Formats a duration for people: `0.8 ms`, `12 ms`, `3.4 s`, `2 m 5 s`. */
export function formatMilliseconds(ms: number): string {
  if (ms < 10) return `${ms.toFixed(1)} ms`;
  if (ms < 1000) return `${Math.round(ms)} ms`;
  if (ms < 60_000) return `${(ms / 1000).toFixed(1)} s`;
  return `${Math.floor(ms / 60_000)} m ${Math.round((ms % 60_000) / 1000)} s`;
}
