/** Relative times and durations. */
import { useSyncExternalStore } from "react";

const TICK_MS = 15_000;
let now = Date.now();
const listeners = new Set<() => void>();
let timer: ReturnType<typeof setInterval> | undefined;

/** Subscribes to the clock that all relative times share. */
function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  timer ??= setInterval(() => {
    now = Date.now();
    for (const tell of listeners) tell();
  }, TICK_MS);
  return () => {
    listeners.delete(listener);
    if (listeners.size > 0) return;
    clearInterval(timer);
    timer = undefined;
  };
}

const relative = new Intl.RelativeTimeFormat("en", { numeric: "auto", style: "long" });
const exact = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "medium" });
const day = new Intl.DateTimeFormat(undefined, { day: "numeric", month: "short", year: "numeric" });
const UNITS: [Intl.RelativeTimeFormatUnit, number][] = [
  ["day", 86_400_000],
  ["hour", 3_600_000],
  ["minute", 60_000],
];

function formatRelative(ms: number): string {
  const ago = ms - Math.max(now, Date.now());
  if (Math.abs(ago) > 30 * 86_400_000) return day.format(ms);
  for (const [unit, size] of UNITS) {
    if (Math.abs(ago) >= size) return relative.format(Math.trunc(ago / size), unit);
  }
  return ago > 5_000 ? "in a moment" : "just now";
}

/** Renders `3 minutes ago`, with the exact time as tooltip. */
export function Moment({ at }: { at: string }) {
  useSyncExternalStore(subscribe, () => now);
  const ms = Date.parse(at);
  return (
    <time dateTime={at} title={exact.format(ms)}>
      {formatRelative(ms)}
    </time>
  );
}

export const formatExactTime = (at: string): string => exact.format(Date.parse(at));

/** Formats a duration: `340 ms`, `1 min 20 s`, `2 h 5 min`. */
export function formatDuration(ms: number): string {
  if (ms < 1_000) return `${Math.round(ms)} ms`;
  if (ms < 60_000) return `${(ms / 1_000).toFixed(ms < 10_000 ? 1 : 0)} s`;
  const minutes = Math.floor(ms / 60_000);
  if (minutes < 60) return `${minutes} min ${Math.floor((ms % 60_000) / 1_000)} s`;
  return `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}

const pad = (number: number) => String(number).padStart(2, "0");

/** Formats a moment for an input of the type `datetime-local`, in the browser's time zone; empty for none. */
export function formatLocalInput(moment: unknown): string {
  const date = new Date(typeof moment === "number" ? moment : String(moment ?? ""));
  if (Number.isNaN(date.getTime())) return "";
  const day = `${date.getFullYear()}-${pad(date.getMonth() + 1)}-${pad(date.getDate())}`;
  return `${day}T${pad(date.getHours())}:${pad(date.getMinutes())}`;
}
