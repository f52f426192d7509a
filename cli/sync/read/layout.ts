/**
 * Allowed file names of a pulled workspace. A server, or anybody who may write to the workspace, chooses names and
 * contents; other names could be files that git, a shell or an editor executes.
 */
import { lstatSync } from "node:fs";
import { join } from "node:path";
import { DEPENDENCY_FILES } from "../../../src/features/code/dependencies/dependency-files.ts";
import { CliError } from "../../terminal/text/failure.ts";
import { SCRIPT_ENDINGS, TRIGGER_KINDS } from "./items.ts";

const escapePattern = (text: string) => text.replace(/[.]/g, "\\.");
const PATH_PATTERN = "[ufg](?:/[\\w-]+){2,}";
const DESCRIPTION_ENDING = "\\.(?:yaml|json)";
/** A part of a name that comes from a step's title or from a user. */
const NAME_PATTERN = String.raw`(?![.\s]|[^/]*~\d)[^\p{C}/\\:*?"<>|]+`;
/** The name of a branch, in the files of items of which there is one per branch. */
const BRANCH_PATTERN = String.raw`(?:\.[^\p{C}\s/\\:*?"<>|.]+)?`;
const INSIDE_PATTERN = `${PATH_PATTERN}(?:\\.|__)(?:flow|app|raw_app)/`;

const DEPENDENCIES_PATTERN = Object.values(DEPENDENCY_FILES).map(escapePattern).join("|");

const TRIGGERS_PATTERN = TRIGGER_KINDS.map((kind) => kind.replace(" ", "_")).join("|");

const FILE_PATTERNS = [
  `encryption_key${DESCRIPTION_ENDING}`,
  `settings${BRANCH_PATTERN}${DESCRIPTION_ENDING}`,
  `[\\w-]+\\.resource-type${DESCRIPTION_ENDING}`,
  `f/[\\w-]+/folder${BRANCH_PATTERN}\\.meta${DESCRIPTION_ENDING}`,
  `dependencies/(?:[\\w-]+\\.)?(?:${DEPENDENCIES_PATTERN})`,
  `groups/[\\w-]+\\.group${DESCRIPTION_ENDING}`,
  `${PATH_PATTERN}\\.(?:script|policy)${DESCRIPTION_ENDING}`,
  `${PATH_PATTERN}${BRANCH_PATTERN}\\.(?:resource|variable|schedule|${TRIGGERS_PATTERN})${DESCRIPTION_ENDING}`,
  `${PATH_PATTERN}\\.script\\.lock`,
  `${PATH_PATTERN}(?:${SCRIPT_ENDINGS.map(([ending]) => escapePattern(ending)).join("|")})`,
  `${PATH_PATTERN}${BRANCH_PATTERN}\\.resource\\.file\\.[a-z0-9]+(?:\\.[a-z0-9]+)*`,
  `${INSIDE_PATTERN}(?:flow|app|raw_app)${DESCRIPTION_ENDING}`,
  `${PATH_PATTERN}(?:\\.|__)raw_app/(?:${NAME_PATTERN}/)*${NAME_PATTERN}`,
  `${INSIDE_PATTERN}(?:${NAME_PATTERN}/)*${NAME_PATTERN}\\.(?:ts|js|py|sh|sql|gql|go|php|rs|ps1|rb|cs|java|nu|r|playbook\\.yml|lock|no_ext)`,
];
const LAYOUT_PATTERN = new RegExp(`^(?:${FILE_PATTERNS.join("|")})$`, "u");

/** Folders of installed packages, in any case. */
const PACKAGES = /(?:^|\/)node_modules\//i;

/** Device names on Windows, with any extension. */
const DEVICE_NAMES = /^(con|prn|aux|nul|com\d|lpt\d|conin\$|conout\$)(\.|$)/i;

/** Returns whether a file of a workspace may have this name below the folder. */
export function isInLayout(name: string, platform: string = process.platform): boolean {
  if (name.length > 1_000 || !LAYOUT_PATTERN.test(name) || PACKAGES.test(name)) return false;
  return platform !== "win32" || !name.split("/").some((part) => DEVICE_NAMES.test(part));
}

/**
 * Returns the path of a workspace's file.
 * @throws CliError for a name that is not allowed, or a path through a symbolic link
 */
export function resolveItemFile(root: string, name: string): string {
  if (!isInLayout(name)) {
    throw new CliError("Folder", `"${name.slice(0, 200)}" is skipped: no file of a workspace has this name`);
  }
  let place = root;
  for (const part of name.split("/")) {
    place = join(place, part);
    const found = lstatSync(place, { throwIfNoEntry: false });
    if (!found) break;
    if (found.isSymbolicLink()) {
      throw new CliError(
        "Folder",
        `${name} is skipped: ${place} is a symbolic link, which may lead outside the folder`,
      );
    }
  }
  return join(root, name);
}

/** Lists the files of a folder, by name and sorted; none if it does not exist. @throws CliError if it cannot be read */
export async function listNames(root: string): Promise<string[]> {
  const names: string[] = [];
  try {
    for await (const name of new Bun.Glob("**/*").scan({ cwd: root })) {
      if (!/(^|\/)node_modules\//.test(name) && !name.startsWith("wmill")) names.push(name);
    }
  } catch (cause) {
    const { code, message } = cause as Error & { code?: string };
    if (code !== "ENOENT") throw new CliError("Folder", `${root} cannot be read: ${code ?? message}`);
  }
  return names.sort();
}
