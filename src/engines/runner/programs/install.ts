/** Installs packages of interpreted languages to a folder, once for all versions with the same lock. */
import { existsSync } from "node:fs";
import { mkdir } from "node:fs/promises";
import { dirname, join } from "node:path";
import { sha256 } from "../../../lib/text/ids.ts";
import type { ProgramLanguage } from "../../languages/languages.ts";
import type { PackageFolder } from "../../languages/programs/types.ts";
import { publishFolder, type ToolOutcome, type ToolRequest } from "../packages/tool.ts";
import type { LockOptions, RunnableVersion } from "../types.ts";
import { findBuildTool, runClient } from "./build.ts";

/**
 * Creates the function that installs the packages of a version. It calls `onUse` with the installation folder before it
 * reads it, returns the folder of the packages, two levels below `directory`, and throws DependencyError.
 * @param directory parent folder of all installations
 */
export function createProgramInstaller(
  directory: string,
  runTool: (request: ToolRequest) => Promise<ToolOutcome>,
) {
  const installing = new Map<string, Promise<void>>();
  return async (
    { language, content, lock }: RunnableVersion,
    packages: PackageFolder,
    options: LockOptions,
    onUse: (folder: string) => void,
  ): Promise<string> => {
    const { interpreter, ...client } = await findBuildTool(language as ProgramLanguage, packages);
    const manifest = packages.toManifest(content);
    const folder = join(directory, sha256([language, interpreter.version, manifest, lock ?? ""].join("\n")));
    onUse(folder);
    const target = join(folder, packages.folder);
    if (existsSync(folder)) return target;
    const started = installing.get(folder) ?? create().finally(() => installing.delete(folder));
    installing.set(folder, started);
    await started;
    return target;

    async function create(): Promise<void> {
      await mkdir(dirname(folder), { recursive: true });
      const [program, ...argv] = packages.command(client.program, interpreter.program);
      await runClient(runTool, language, packages, "installed", {
        ...client,
        program,
        argv,
        files: { ...client.files, ...packages.files(manifest, lock) },
        ...options,
        collect: (made) => publishFolder(join(made, "made"), folder),
      });
    }
  };
}
