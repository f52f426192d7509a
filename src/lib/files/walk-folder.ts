import { readdir } from "node:fs/promises";
import { join } from "node:path";

/**
 * Yields the path of everything below a folder, of a folder before those of its content. Links are not followed, as
 * they are by the option `recursive` of `readdir`.
 */
export async function* walkFolder(folder: string): AsyncGenerator<string> {
  const folders = [folder];
  for (let each = folders.pop(); each !== undefined; each = folders.pop()) {
    for (const entry of await readdir(each, { withFileTypes: true })) {
      const path = join(each, entry.name);
      yield path;
      if (entry.isDirectory()) folders.push(path);
    }
  }
}
