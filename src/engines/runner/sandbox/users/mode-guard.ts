/**
 * Protects the modes of the server's own files. No sandbox restricts chmod(2): where scripts run as the server's user,
 * they can expose its files or lock it out. Changes are detected and reverted soon.
 */
import { chownSync, readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import {
  type FileRights,
  listPrivateFiles,
  type RestoredFile,
  restoreRights,
} from "../../../../lib/files/private-files.ts";

/** Runner folders that children traverse, and those for the server alone. */
const TRAVERSABLE_FOLDERS = ["children", "dependencies", "runtime", "shared"];
const PRIVATE_FOLDERS = ["versions", "install", "cache"];

const ALL_RIGHTS = 0o7777;

export interface ModeGuard {
  /** Restores the modes. @returns the files that had wrong ones */
  restore(): RestoredFile[];
  /** Runs `attempt`, and once more if it failed for modes that could be restored. */
  retryAfterRestore<T>(attempt: () => T): T;
}

/**
 * Creates the guard of the modes of the server's own files.
 * @param group group of the children's user ids; undefined: children run as the server's user
 */
export function createModeGuard(
  data_dir: string,
  group: number | undefined,
  onRestored: (files: RestoredFile[]) => void,
): ModeGuard {
  const runner = join(data_dir, "runner");
  const executable = (statSync(process.execPath, { throwIfNoEntry: false })?.mode ?? 0) & 0o777;
  const through = group === undefined ? 0o700 : 0o710;
  const [passed, listed, read] = group === undefined ? [0o700, 0o700, 0o600] : [0o711, 0o755, 0o644];

  /** Yields each folder before its content. */
  function* ownFiles(): Generator<FileRights> {
    yield [data_dir, through, through];
    yield* listPrivateFiles(data_dir);
    for (const path of [runner, ...TRAVERSABLE_FOLDERS.map((name) => join(runner, name))])
      yield [path, passed, passed];
    for (const name of PRIVATE_FOLDERS) yield [join(runner, name), 0o700, 0o700];
    yield* programs(join(runner, "runtime"));
    yield [process.execPath, ALL_RIGHTS, executable];
  }

  function* programs(folder: string): Generator<FileRights> {
    for (const entry of listEntries(folder)) {
      const path = join(folder, entry.name);
      if (entry.isFile()) yield [path, read, read];
      if (!entry.isDirectory()) continue;
      yield [path, listed, listed];
      yield* programs(path);
    }
  }

  function restore(): RestoredFile[] {
    const folder = statSync(data_dir, { throwIfNoEntry: false });
    if (folder && group !== undefined && folder.gid !== group) chownSync(data_dir, -1, group);
    const found = restoreRights(ownFiles());
    if (found.length > 0) onRestored(found);
    return found;
  }

  return {
    restore,
    retryAfterRestore(attempt) {
      try {
        return attempt();
      } catch (cause) {
        if ((cause as NodeJS.ErrnoException).code !== "EACCES" || restore().length === 0) throw cause;
        return attempt();
      }
    },
  };
}

function listEntries(folder: string) {
  try {
    return readdirSync(folder, { withFileTypes: true });
  } catch {
    return [];
  }
}
