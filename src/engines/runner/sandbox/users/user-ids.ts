/** User ids for scripts where the server runs as root: the available range, and their allocation. */
import { readFileSync } from "node:fs";
import { sha256 } from "../../../../lib/text/ids.ts";
import { resolveLinks } from "../isolation/paths.ts";

export interface UserIdRange {
  first: number;
  last: number;
}

/** Range that no system allocates (systemd, "Users, Groups, UIDs and GIDs"); each data directory uses its own part. */
const UNUSED_RANGE: UserIdRange = { first: 1_900_000_000, last: 2_147_400_000 };
const IDS_PER_DIRECTORY = 4_096;
/** Also unallocated, and available in containers that map 65,536 ids. */
const UNUSED_IN_CONTAINERS: UserIdRange = { first: 60_706, last: 61_183 };

/**
 * CAP_CHOWN, DAC_OVERRIDE, FOWNER, KILL, SETGID and SETUID: to change users, and to manage their files and processes.
 */
const NEEDED_CAPABILITIES = [0, 1, 3, 5, 6, 7];

/** User ids for scripts; `why` explains why they run as root. */
export type UserIdPlan = { range: UserIdRange } | { why: string };

/**
 * Plans the range of user ids for scripts.
 * @param chosen range set by the operator; undefined: a range that nobody else uses
 * @returns undefined if the server does not run as root
 */
export function planUserIds(
  chosen: UserIdRange | "off" | undefined,
  data_dir: string,
): UserIdPlan | undefined {
  if (process.platform !== "linux" || process.geteuid?.() !== 0) return undefined;
  if (chosen === "off") return { why: "SVC_JOB_UIDS=off" };
  if (!hasCapabilities())
    return { why: "this container leaves root no right to change the user (CAP_SETUID)" };
  const ranges = chosen ? [chosen] : [rangeForDirectory(data_dir), UNUSED_IN_CONTAINERS];
  const range = ranges.find(isMapped);
  if (range) return { range };
  return { why: `this container maps none of the user ids ${ranges.map(formatRange).join(" or ")}` };
}

export function formatRange({ first, last }: UserIdRange): string {
  return `${first}-${last}`;
}

function rangeForDirectory(data_dir: string): UserIdRange {
  const parts = Math.floor((UNUSED_RANGE.last - UNUSED_RANGE.first) / IDS_PER_DIRECTORY);
  const part = Number.parseInt(sha256(resolveLinks(data_dir)).slice(0, 8), 16) % parts;
  const first = UNUSED_RANGE.first + part * IDS_PER_DIRECTORY;
  return { first, last: first + IDS_PER_DIRECTORY - 1 };
}

function hasCapabilities(): boolean {
  const text = /^CapEff:\s+([0-9a-f]+)/m.exec(readFileSync("/proc/self/status", "latin1"))?.[1] ?? "0";
  const effective = BigInt(`0x${text}`);
  return NEEDED_CAPABILITIES.every((capability) => (effective >> BigInt(capability)) & 1n);
}

/** Whether this user namespace maps all of these ids, as users and as groups (user_namespaces(7)). */
function isMapped({ first, last }: UserIdRange): boolean {
  return ["/proc/self/uid_map", "/proc/self/gid_map"].every((map) =>
    readFileSync(map, "latin1")
      .trim()
      .split("\n")
      .map((line) => line.trim().split(/\s+/).map(Number) as [number, number, number])
      .some(([inside, , count]) => inside <= first && last < inside + count),
  );
}

export interface UserIds {
  /** Common group of all these ids, which no other process has. */
  readonly group: number;
  /**
   * Acquires a free id. With a name, it returns the id that others of that name share and reserves it until the name is
   * released.
   * @throws Error if all are in use
   */
  acquire(name?: string): number;
  release(id: number): void;
  /** Reserves an id that already owns files of this name. */
  reserve(name: string, id: number): void;
  releaseName(name: string): void;
}

export function createUserIds({ first, last }: UserIdRange): UserIds {
  /** Number of holders by id. */
  const holders = new Map<number, number>();
  const named = new Map<string, number>();
  let next = first;

  const hold = (id: number) => void holders.set(id, (holders.get(id) ?? 0) + 1);

  /** Returns the next free id in rotation, so that ids are reused late. */
  function free(): number {
    for (let tried = first; tried < last; tried++) {
      next = next >= last ? first + 1 : next + 1;
      if (!holders.has(next)) return next;
    }
    throw new Error(`all user ids of scripts (${formatRange({ first, last })}, SVC_JOB_UIDS) are taken`);
  }

  function give(id: number): void {
    const left = (holders.get(id) ?? 1) - 1;
    if (left > 0) holders.set(id, left);
    else holders.delete(id);
  }

  function keep(name: string, id: number): void {
    if (named.has(name)) return;
    named.set(name, id);
    hold(id);
  }

  return {
    group: first,
    acquire(name) {
      const id = (name === undefined ? undefined : named.get(name)) ?? free();
      if (name !== undefined) keep(name, id);
      hold(id);
      return id;
    },
    release: give,
    reserve: keep,
    releaseName(name) {
      const id = named.get(name);
      named.delete(name);
      if (id !== undefined) give(id);
    },
  };
}
