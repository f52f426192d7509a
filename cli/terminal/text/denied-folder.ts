/** Explains files and folders that the system does not let this user read or write. */
import { accessSync, constants, statSync } from "node:fs";
import { dirname, resolve } from "node:path";

const DENIED = ["EACCES", "EPERM", "EROFS"];

/** Returns the folder, or the nearest one above it that can be looked at. */
function findVisibleFolder(path: string): string {
  for (let folder = path; ; folder = dirname(folder)) {
    try {
      if (statSync(folder).isDirectory()) return folder;
    } catch {}
    if (dirname(folder) === folder) return folder;
  }
}

function describeOwner(folder: string): string {
  const [owner, user] = [statSync(folder).uid, process.getuid?.()];
  if (user === undefined || owner === user) return `${folder} cannot be written to`;
  return `${folder} belongs to user id ${owner}, and svc runs as ${user}`;
}

/** Returns a hint for a denied access to a file or folder; undefined for other errors. */
export function explainDenied({ code, path }: NodeJS.ErrnoException): string | undefined {
  if (path === undefined || !DENIED.includes(code ?? "")) return undefined;
  const owner = describeOwner(findVisibleFolder(resolve(path)));
  return `${owner}: use a folder of your own, or run svc as its owner`;
}

/** Returns why no file can be created at a path, below folders that may be missing; undefined if one can. */
export function findWriteObstacle(path: string): string | undefined {
  const folder = findVisibleFolder(path);
  try {
    accessSync(folder, constants.W_OK | constants.X_OK);
    return undefined;
  } catch {
    return describeOwner(folder);
  }
}
