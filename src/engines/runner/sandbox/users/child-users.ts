/** The users that children run as where the server is the superuser: each child one of its own, to whom its folders belong. */
import { chmodSync, chownSync, lstatSync, readdirSync, realpathSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import type { SandboxChoice } from "../../types.ts";
import type { ChildFolders } from "../child-folders.ts";
import { hasWalls, type SandboxSupport } from "../support.ts";
import type { LaunchUser } from "../walls/launcher.ts";
import { isWithin, withoutLinks } from "../walls/paths.ts";
import { createUserIds, planUserIds, type UserIdRange } from "./user-ids.ts";

/** A child's user: what the launcher needs to know of it, until it is released. */
export interface ChildUser extends LaunchUser {
  /** To be called when nothing of the child is left. */
  release(): void;
}

export interface ChildUsers {
  /** The group that may pass through the data directory. */
  readonly group: number;
  /** Takes a user for a child, whose folders are there, and makes them its own. */
  take(folders: ChildFolders): ChildUser;
  /** A folder that jobs shared is gone. */
  forget(shared: string): void;
}

/** What becomes of children on a server of the superuser; `why` says why they run as it does all the same. */
export type UserPlan = OwnUsers | { why: string };

export interface OwnUsers {
  range: UserIdRange;
  /**
   * What every child needs and the rights of files keep from other users: children then read and write files of all
   * users, as far as no wall is in the way.
   */
  closed: string | undefined;
  /** Nothing else is in the way. */
  leavesFilesOpen: boolean;
}

/** Reading and writing files of other users. */
const CAP_DAC_OVERRIDE = 1;

const READ = 0o4;
const WRITE = 0o2;
const SEARCH = 0o1;

/** @returns undefined where the server is not the superuser, or nothing is to hold scripts */
export function planUsers(
  choice: SandboxChoice,
  data_dir: string,
  support: SandboxSupport,
): UserPlan | undefined {
  if (choice.mode === "off") return undefined;
  const real = withoutLinks(data_dir);
  const plan = planUserIds(choice.user_ids, real);
  if (plan === undefined || "why" in plan) return plan;
  const isWalled = hasWalls(choice.mode, support);
  const closed = closedTo(choice, real, isWalled);
  return { range: plan.range, closed, leavesFilesOpen: closed !== undefined && !isWalled };
}

/** @param data_dir without links · @param runner the runner's folder · @param isWalled paths are closed by more than rights */
export function createChildUsers(
  { range, closed }: OwnUsers,
  data_dir: string,
  runner: string,
  isWalled: boolean,
): ChildUsers {
  const ids = createUserIds(range);
  for (const name of namesIn(join(runner, "shared"))) {
    const shared = join(runner, "shared", name);
    const { uid } = lstatSync(shared);
    if (uid !== 0) ids.keep(shared, uid);
  }
  return {
    group: ids.group,
    take({ job, code, reach }) {
      const uid = ids.take(reach.shared);
      try {
        // Nobody else passes through the folder around both, whatever the rights are of what is in it.
        setOwner(dirname(job), 0, uid, 0o710);
        setOwner(code, 0, uid, 0o750);
        setOwner(job, uid, uid, 0o700);
        if (reach.shared !== undefined) setOwner(reach.shared, uid, uid, 0o700);
      } catch (cause) {
        ids.give(uid);
        throw cause;
      }
      const isShort = (reach.read ?? []).some((path) => !isOpen(path, READ, data_dir));
      const keeps = closed !== undefined || (isWalled && isShort) ? [CAP_DAC_OVERRIDE] : [];
      return { uid, gid: uid, groups: [ids.group], keeps, release: () => ids.give(uid) };
    },
    forget: (shared) => ids.forget(shared),
  };
}

function closedTo({ read, write }: SandboxChoice, data_dir: string, isWalled: boolean): string | undefined {
  const needed: [path: string, right: number][] = [
    [data_dir, 0],
    [process.execPath, READ | SEARCH],
  ];
  // Where there are no walls, a child that reads everything is more than one that lacks a folder.
  if (isWalled) for (const path of read) needed.push([path, READ]);
  if (isWalled) for (const path of write) needed.push([path, WRITE]);
  return needed.find(([path, right]) => !isOpen(path, right, data_dir))?.[0];
}

/** Whether users that are none of ours reach a path. In the data directory it is the server that says who does. */
function isOpen(path: string, right: number, data_dir: string): boolean {
  let real: string;
  try {
    real = realpathSync(path);
  } catch {
    // What is not there is closed to everybody.
    return true;
  }
  if (real !== data_dir && isWithin(real, data_dir)) return isOpen(data_dir, 0, data_dir);
  const has = (at: string, wanted: number) => (statSync(at).mode & wanted) === wanted;
  const stats = statSync(real);
  if (real !== data_dir && !has(real, right | (stats.isDirectory() ? SEARCH : 0))) return false;
  for (let at = dirname(real); ; at = dirname(at)) {
    if (!has(at, SEARCH)) return false;
    if (at === dirname(at)) return true;
  }
}

function setOwner(path: string, uid: number, gid: number, mode: number): void {
  chownSync(path, uid, gid);
  chmodSync(path, mode);
}

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}
