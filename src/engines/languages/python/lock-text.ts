/**
 * Text of a Python lock: a line `# py: 3.11`, then one requirement per line with its exact version and, for locks made
 * here, its hashes. Existing clients keep this form in their repositories.
 */
import { sha256 } from "../../../lib/text/ids.ts";

export interface PythonLock {
  /** Python version of the lock, such as `3.11`; undefined if unspecified. */
  python: string | undefined;
  /** Requirements in the format of requirements files. */
  requirements: string[];
}

/** Parses a lock leniently: comments are skipped, and invalid requirements are left to the package client. */
export function parsePythonLock(text: string): PythonLock {
  const python = /^#[ \t]*py:[ \t]*(?:==[ \t]*)?(3\.\d{1,2})/m.exec(text)?.[1] ?? parseShortVersion(text);
  const requirements = text
    .replaceAll("\\\n", " ")
    .split(/\r?\n/)
    .map((line) => removeComment(line).trim())
    .filter((line) => line !== "");
  return { python, requirements };
}

function removeComment(line: string): string {
  const at = line.search(/(?:^|\s)#/);
  return at < 0 ? line : line.slice(0, at);
}

function parseShortVersion(text: string): string | undefined {
  const match = /^#\s*py(3)(\d{1,2})\s*$/m.exec(text);
  return match ? `${match[1]}.${match[2]}` : undefined;
}

export interface LockedPackage {
  name: string;
  version: string;
  /** `sha256:…` of each installable file. */
  hashes: string[];
  /** Source other than the index, such as a URL from the script. */
  url?: string | undefined;
}

/** Formats a lock. @param python the Python version it was resolved for */
export function formatPythonLock(python: string, packages: LockedPackage[]): string {
  const lines = packages.map(({ name, version, hashes, url }) => {
    const what = url ? `${name} @ ${url}` : `${name}==${version}`;
    return [what, ...hashes.map((hash) => `--hash=${hash}`)].join(" ");
  });
  lines.sort((a, b) => (a.toLowerCase() < b.toLowerCase() ? -1 : 1));
  return [`# py: ${python}`, ...lines].join("\n");
}

/** Whether every requirement has a hash; only matching files are installed then. */
export function hasHashes({ requirements }: PythonLock): boolean {
  return requirements.length > 0 && requirements.every((line) => line.includes("--hash="));
}

/** Returns the folder name of this lock's installation for a Python version. */
export function getInstallationFolderName(lock: PythonLock, python: string): string {
  return sha256(`${python}\n${lock.requirements.join("\n")}`);
}
