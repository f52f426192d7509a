/** The programs of children, as they travel inside the executable, and where they are written at start. */
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { sha256 } from "../lib/ids.ts";
import { sourceOf } from "./source-of.ts" with { type: "macro" };

export interface RuntimeFiles {
  directory: string;
  typescript: string;
  python: string;
  watchdog: string;
}

/** Writes them below `directory`, in a folder named by their content: versions of svc do not disturb each other. */
export function writeRuntimeFiles(directory: string): RuntimeFiles {
  const sources: [string, string][] = [
    ["child/program.ts", sourceOf("child/program.ts")],
    ["child/program.py", sourceOf("child/program.py")],
    ["child/watchdog.ts", sourceOf("child/watchdog.ts")],
    ["kill-tree.ts", sourceOf("kill-tree.ts")],
  ];
  const digest = sha256(sources.map(([, text]) => text).join("\0")).slice(0, 16);
  const folder = join(directory, "runtime", digest);
  mkdirSync(join(folder, "child"), { recursive: true, mode: 0o700 });
  for (const [name, text] of sources) writeFileSync(join(folder, name), text, { mode: 0o600 });
  return {
    directory: folder,
    typescript: join(folder, "child", "program.ts"),
    python: join(folder, "child", "program.py"),
    watchdog: join(folder, "child", "watchdog.ts"),
  };
}
