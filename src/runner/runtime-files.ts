/** The programs of children, as they travel inside the executable, and where they are written at start. */
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { sha256 } from "../lib/ids.ts";
// @ts-expect-error: read as text, not as a module
import typescriptProgram from "./child/program.ts" with { type: "text" };
import pythonProgram from "./child/program.py" with { type: "text" };
// @ts-expect-error: read as text, not as a module
import watchdogProgram from "./child/watchdog.ts" with { type: "text" };
// @ts-expect-error: read as text, not as a module
import killTreeModule from "./kill-tree.ts" with { type: "text" };

export interface RuntimeFiles {
  directory: string;
  typescript: string;
  python: string;
  watchdog: string;
}

/** Writes them below `directory`, in a folder named by their content: versions of svc do not disturb each other. */
export function writeRuntimeFiles(directory: string): RuntimeFiles {
  const sources: [string, string][] = [
    ["child/program.ts", typescriptProgram as unknown as string],
    ["child/program.py", pythonProgram],
    ["child/watchdog.ts", watchdogProgram as unknown as string],
    ["kill-tree.ts", killTreeModule as unknown as string],
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
