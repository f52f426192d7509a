/** One result of `svc doctor`. */
export interface Finding {
  check: string;
  state: "ok" | "warn" | "fail";
  /** The finding in words. */
  says: string;
  /** How to fix the problem, if there is one. */
  advice?: string;
}

export const createOkFinding = (check: string, says: string): Finding => ({ check, state: "ok", says });
export const createWarnFinding = (check: string, says: string, advice: string): Finding => ({
  check,
  state: "warn",
  says,
  advice,
});
export const createFailFinding = (check: string, says: string, advice: string): Finding => ({
  check,
  state: "fail",
  says,
  advice,
});

/** Formats a size in bytes for people. */
export function formatBytes(bytes: number): string {
  const units = ["bytes", "kB", "MB", "GB", "TB"];
  let value = bytes;
  let unit = 0;
  while (value >= 1000 && unit < units.length - 1) {
    value /= 1000;
    unit++;
  }
  return `${unit === 0 ? value : value.toFixed(value < 10 ? 1 : 0)} ${units[unit]}`;
}
