/** User ids for scripts where the server is the superuser: which there are, and who has one at the moment. */
import { readFileSync } from "node:fs";
import { sha256 } from "../../../../lib/text/ids.ts";
import { withoutLinks } from "../walls/paths.ts";

export interface UserIdRange {
  first: number;
  last: number;
}

/** Not given to users by any system (systemd, "Users, Groups, UIDs and GIDs"); each data directory has a part of its own. */
const UNUSED: UserIdRange = { first: 1_900_000_000, last: 2_147_400_000 };
const IDS_PER_DIRECTORY = 4_096;
/** As unused, and there where a container maps 65,536 ids. */
const UNUSED_IN_CONTAINERS: UserIdRange = { first: 60_706, last: 61_183 };

/** CAP_CHOWN, DAC_OVERRIDE, FOWNER, KILL, SETGID and SETUID: becoming others, and looking after their files and processes. */
const NEEDED_CAPABILITIES = [0, 1, 3, 5, 6, 7];

/** Which ids scripts run under; `why` says why they run as the superuser all the same. */
export type UserIdPlan = { range: UserIdRange } | { why: string };

/** @param chosen by the operator; undefined: a range that nobody else uses · @returns undefined where the server is not the superuser */
export function planUserIds(
  chosen: UserIdRange | "off" | undefined,
  data_dir: string,
): UserIdPlan | undefined {
  if (process.platform !== "linux" || process.geteuid?.() !== 0) return undefined;
  if (chosen === "off") return { why: "SVC_JOB_UIDS=off" };
  if (!hasCapabilities())
    return { why: "this container leaves root no right to change the user (CAP_SETUID)" };
  const ranges = chosen ? [chosen] : [rangeOf(data_dir), UNUSED_IN_CONTAINERS];
  const range = ranges.find(isMapped);
  if (range) return { range };
  return { why: `this container maps none of the user ids ${ranges.map(rangeText).join(" or ")}` };
}

export function rangeText({ first, last }: UserIdRange): string {
  return `${first}-${last}`;
}

function rangeOf(data_dir: string): UserIdRange {
  const parts = Math.floor((UNUSED.last - UNUSED.first) / IDS_PER_DIRECTORY);
  const part = Number.parseInt(sha256(withoutLinks(data_dir)).slice(0, 8), 16) % parts;
  const first = UNUSED.first + part * IDS_PER_DIRECTORY;
  return { first, last: first + IDS_PER_DIRECTORY - 1 };
}

function hasCapabilities(): boolean {
  const text = /^CapEff:\s+([0-9a-f]+)/m.exec(readFileSync("/proc/self/status", "latin1"))?.[1] ?? "0";
  const effective = BigInt(`0x${text}`);
  return NEEDED_CAPABILITIES.every((capability) => (effective >> BigInt(capability)) & 1n);
}

/** Whether the user namespace that we are in has all of these ids, as users and as groups (user_namespaces(7)). */
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
  /** The group of all of them, which no other process has. */
  readonly group: number;
  /**
   * Takes an id that nobody has; with a name the one that others of the name have too, and that is kept for the name
   * until it is forgotten.
   * @throws Error when all are taken
   */
  take(name?: string): number;
  give(id: number): void;
  /** An id that files of a name belong to already. */
  keep(name: string, id: number): void;
  forget(name: string): void;
}

export function createUserIds({ first, last }: UserIdRange): UserIds {
  /** How many have an id. */
  const holders = new Map<number, number>();
  const named = new Map<string, number>();
  let next = first;

  const hold = (id: number) => void holders.set(id, (holders.get(id) ?? 0) + 1);

  /** In turns, so that an id comes back late. */
  function free(): number {
    for (let tried = first; tried < last; tried++) {
      next = next >= last ? first + 1 : next + 1;
      if (!holders.has(next)) return next;
    }
    throw new Error(`all user ids of scripts (${rangeText({ first, last })}, SVC_JOB_UIDS) are taken`);
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
    take(name) {
      const id = (name === undefined ? undefined : named.get(name)) ?? free();
      if (name !== undefined) keep(name, id);
      hold(id);
      return id;
    },
    give,
    keep,
    forget(name) {
      const id = named.get(name);
      named.delete(name);
      if (id !== undefined) give(id);
    },
  };
}
