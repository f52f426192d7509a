/**
 * Which files a pulled workspace may consist of. A server, or whoever may write to a workspace, chooses the names and
 * what is in the files; a file of another name could be one that git, a shell or an editor executes.
 */
import { lstatSync } from "node:fs";
import { join } from "node:path";
import { CliError } from "../../terminal/text/failure.ts";
import { SCRIPT_ENDINGS } from "./items.ts";

const literal = (text: string) => text.replace(/[.]/g, "\\.");
const PATH = "[ufg](?:/[\\w-]+){2,}";
const DESCRIBED = "\\.(?:yaml|json)";
/** A part of a name that a step's title or a person gave to a file of code. */
const PART = String.raw`(?![.\s]|[^/]*~\d)[^\p{C}/\\:*?"<>|]+`;
const INSIDE = `${PATH}(?:\\.|__)(?:flow|app|raw_app)/`;

const FILES = [
  `settings${DESCRIBED}`,
  `[\\w-]+\\.resource-type${DESCRIBED}`,
  `f/[\\w-]+/folder\\.meta${DESCRIBED}`,
  `groups/[\\w-]+\\.group${DESCRIBED}`,
  `${PATH}\\.(?:script|resource|variable|schedule|http_trigger|websocket_trigger|policy)${DESCRIBED}`,
  `${PATH}\\.script\\.lock`,
  `${PATH}(?:${SCRIPT_ENDINGS.map(([ending]) => literal(ending)).join("|")})`,
  `${PATH}\\.resource\\.file\\.[a-z0-9]+(?:\\.[a-z0-9]+)*`,
  `${INSIDE}(?:flow|app|raw_app)${DESCRIBED}`,
  `${INSIDE}bundle\\.js`,
  `${INSIDE}(?:${PART}/)*${PART}\\.(?:ts|js|py|sh|sql|gql|go|php|rs|ps1|rb|cs|java|nu|r|playbook\\.yml|lock|no_ext)`,
];
const LAYOUT = new RegExp(`^(?:${FILES.join("|")})$`, "u");

/** Names of devices on Windows, whatever follows a dot. */
const DEVICE = /^(con|prn|aux|nul|com\d|lpt\d|conin\$|conout\$)(\.|$)/i;

/** Whether a file of a workspace may have this name below the folder. */
export function isInLayout(name: string, platform: string = process.platform): boolean {
  if (name.length > 1_000 || !LAYOUT.test(name)) return false;
  return platform !== "win32" || !name.split("/").some((part) => DEVICE.test(part));
}

/**
 * The place of a file of a workspace.
 * @throws CliError for a name that no such file has, and for a place that a link leads to
 */
export function placeOf(root: string, name: string): string {
  if (!isInLayout(name)) {
    throw new CliError(
      "Folder",
      `"${name.slice(0, 200)}" is left alone: no file of a workspace has this name`,
    );
  }
  let place = root;
  for (const part of name.split("/")) {
    place = join(place, part);
    const found = lstatSync(place, { throwIfNoEntry: false });
    if (!found) break;
    if (found.isSymbolicLink()) {
      throw new CliError("Folder", `${name} is left alone: ${place} is a link, which may lead anywhere`);
    }
  }
  return join(root, name);
}
