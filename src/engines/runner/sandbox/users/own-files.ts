/**
 * The rights of what is the server's own. No wall asks about chmod(2): where scripts run as the server's user, one can
 * open the server's files to others, or close them to the server. What it changed is found soon, and changed back.
 */
import { chownSync, readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import {
  type OwnRights,
  privateFiles,
  type RestoredFile,
  restoreRights,
} from "../../../../lib/files/private-files.ts";

/** Folders of the runner that children pass through, and those that are for the server alone. */
const PASSED = ["children", "dependencies", "runtime", "shared"];
const CLOSED = ["versions", "install", "cache"];

const ANY = 0o7777;

export interface OwnFiles {
  /** Gives back what has been taken and takes what has been given. @returns what was wrong */
  restore(): RestoredFile[];
  /** Does something, and once more if it was refused for rights that could be restored. */
  restoring<T>(attempt: () => T): T;
}

/** @param group of the children's users, who pass through; undefined: they are the server's */
export function createOwnFiles(
  data_dir: string,
  group: number | undefined,
  onRestored: (files: RestoredFile[]) => void,
): OwnFiles {
  const runner = join(data_dir, "runner");
  const executable = (statSync(process.execPath, { throwIfNoEntry: false })?.mode ?? 0) & 0o777;
  const through = group === undefined ? 0o700 : 0o710;
  const [passed, listed, read] = group === undefined ? [0o700, 0o700, 0o600] : [0o711, 0o755, 0o644];

  /** Each folder before what is in it. */
  function* ownFiles(): Generator<OwnRights> {
    yield [data_dir, through, through];
    yield* privateFiles(data_dir);
    for (const path of [runner, ...PASSED.map((name) => join(runner, name))]) yield [path, passed, passed];
    for (const name of CLOSED) yield [join(runner, name), 0o700, 0o700];
    yield* programs(join(runner, "runtime"));
    yield [process.execPath, ANY, executable];
  }

  function* programs(folder: string): Generator<OwnRights> {
    for (const entry of entriesOf(folder)) {
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
    restoring(attempt) {
      try {
        return attempt();
      } catch (cause) {
        if ((cause as NodeJS.ErrnoException).code !== "EACCES" || restore().length === 0) throw cause;
        return attempt();
      }
    },
  };
}

function entriesOf(folder: string) {
  try {
    return readdirSync(folder, { withFileTypes: true });
  } catch {
    return [];
  }
}
