/** What `svc doctor` says of one thing. */
export interface Finding {
  check: string;
  state: "ok" | "warn" | "fail";
  /** What was found. */
  says: string;
  /** What to do about it, where something is amiss. */
  advice?: string;
}

export const ok = (check: string, says: string): Finding => ({ check, state: "ok", says });
export const warn = (check: string, says: string, advice: string): Finding => ({
  check,
  state: "warn",
  says,
  advice,
});
export const fail = (check: string, says: string, advice: string): Finding => ({
  check,
  state: "fail",
  says,
  advice,
});

/** Bytes as a person reads them. */
export function sized(bytes: number): string {
  const units = ["bytes", "kB", "MB", "GB", "TB"];
  let value = bytes;
  let unit = 0;
  while (value >= 1000 && unit < units.length - 1) {
    value /= 1000;
    unit++;
  }
  return `${unit === 0 ? value : value.toFixed(value < 10 ? 1 : 0)} ${units[unit]}`;
}
