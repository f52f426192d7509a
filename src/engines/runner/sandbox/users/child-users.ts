/**
 * User ids of children where the server runs as root: each child has its own, which owns its folders.
 *
 * An id is reserved when the process is started (process/child.ts), its launch plan (isolation/launch-plan.ts) changes to it, and
 * it is released once the child's folder is deleted. Permissions of the server's own files are checked by
 * `mode-guard.ts` and lib/files/private-files.ts; repairs raise an alert (signals/alerts/file-permissions.ts).
 * Processes left behind by a killed server are ended by process/orphan-processes.ts.
 */
import { chmodSync, chownSync, lstatSync, readdirSync, realpathSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import type { SandboxSettings } from "../../types.ts";
import type { ChildFolders } from "../child-folders.ts";
import type { LaunchUser } from "../isolation/launch-plan.ts";
import { isPathWithin, resolveLinks } from "../isolation/paths.ts";
import { canConfineFiles, type SandboxSupport } from "../support.ts";
import { createUserIds, planUserIds, type UserIdRange } from "./user-ids.ts";

/** A child's user for the launcher, until it is released. */
export interface ChildUser extends LaunchUser {
  /** Releases the user id. Call it when nothing of the child is left. */
  release(): void;
}

export interface ChildUsers {
  /** Group that may traverse the data directory. */
  readonly group: number;
  /** Acquires a user id for a child and gives it the child's existing folders. */
  acquire(folders: ChildFolders): ChildUser;
  /** Releases the user id of a deleted shared folder. */
  releaseShared(shared: string): void;
}

/** Plan for children of a server that runs as root; `why` explains why they run as root too. */
export type UserPlan = OwnUsers | { why: string };

export interface OwnUsers {
  range: UserIdRange;
  /**
   * A path that every child needs but other users cannot access. Children then bypass file permissions, as far as the
   * sandbox allows.
   */
  inaccessible_path: string | undefined;
  /** No other restriction protects files. */
  leavesFilesOpen: boolean;
}

/** CAP_DAC_OVERRIDE: access to other users' files. */
const CAP_DAC_OVERRIDE = 1;

const READ = 0o4;
const WRITE = 0o2;
const SEARCH = 0o1;

/** Plans the user ids of children. @returns undefined if the server does not run as root, or the sandbox is off */
export function planUsers(
  choice: SandboxSettings,
  data_dir: string,
  support: SandboxSupport,
): UserPlan | undefined {
  if (choice.mode === "off") return undefined;
  const real = resolveLinks(data_dir);
  const plan = planUserIds(choice.user_ids, real);
  if (plan === undefined || "why" in plan) return plan;
  const isWalled = canConfineFiles(choice.mode, support);
  const closed = findInaccessible(choice, real, isWalled);
  return { range: plan.range, inaccessible_path: closed, leavesFilesOpen: closed !== undefined && !isWalled };
}

/**
 * Creates the allocator of user ids for children, and their folders.
 * @param data_dir without symbolic links
 * @param runner the runner's folder
 * @param isWalled whether paths are restricted by more than file permissions
 */
export function createChildUsers(
  { range, inaccessible_path }: OwnUsers,
  data_dir: string,
  runner: string,
  isWalled: boolean,
): ChildUsers {
  const ids = createUserIds(range);
  for (const name of listNames(join(runner, "shared"))) {
    const shared = join(runner, "shared", name);
    const { uid } = lstatSync(shared);
    if (uid !== 0) ids.reserve(shared, uid);
  }
  return {
    group: ids.group,
    acquire({ job, code, access }) {
      const uid = ids.acquire(access.shared);
      try {
        // The folder around both lets nobody else through, whatever the modes inside.
        setOwner(dirname(job), 0, uid, 0o710);
        setOwner(code, 0, uid, 0o750);
        setOwner(job, uid, uid, 0o700);
        if (access.shared !== undefined) setOwner(access.shared, uid, uid, 0o700);
      } catch (cause) {
        ids.release(uid);
        throw cause;
      }
      const isShort = (access.read ?? []).some((path) => !isAccessible(path, READ, data_dir));
      const keeps = inaccessible_path !== undefined || (isWalled && isShort) ? [CAP_DAC_OVERRIDE] : [];
      return { uid, gid: uid, groups: [ids.group], keeps, release: () => ids.release(uid) };
    },
    releaseShared: (shared) => ids.releaseName(shared),
  };
}

function findInaccessible(
  { read, write }: SandboxSettings,
  data_dir: string,
  isWalled: boolean,
): string | undefined {
  const needed: [path: string, right: number][] = [
    [data_dir, 0],
    [process.execPath, READ | SEARCH],
  ];
  // Without further restrictions, a child that lacks a folder is better than one that can read everything.
  if (isWalled) for (const path of read) needed.push([path, READ]);
  if (isWalled) for (const path of write) needed.push([path, WRITE]);
  return needed.find(([path, right]) => !isAccessible(path, right, data_dir))?.[0];
}

/** Whether unrelated users can access a path. Inside the data directory the server decides access itself. */
function isAccessible(path: string, right: number, data_dir: string): boolean {
  let real: string;
  try {
    real = realpathSync(path);
  } catch {
    // A missing path needs no access.
    return true;
  }
  if (real !== data_dir && isPathWithin(real, data_dir)) return isAccessible(data_dir, 0, data_dir);
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

function listNames(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}
