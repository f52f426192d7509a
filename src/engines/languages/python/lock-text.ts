/**
 * The text of a Python lock: a line `# py: 3.11`, then one requirement a line with its exact version and, where the lock
 * was made here, its hashes. It is the form that existing clients keep in their repositories.
 */
import { sha256 } from "../../../lib/text/ids.ts";

export interface PythonLock {
  /** The Python that it was made for, as `3.11`; undefined when it does not say. */
  python: string | undefined;
  /** Requirements as the package client reads them from a file. */
  requirements: string[];
}

/** Reads a lock leniently: comments are passed over, and what is no requirement is the package client's to refuse. */
export function parsePythonLock(text: string): PythonLock {
  const python = /^#\s*py:\s*(?:==)?\s*(3\.\d{1,2})/m.exec(text)?.[1] ?? shortVersion(text);
  const requirements = text
    .replaceAll("\\\n", " ")
    .split(/\r?\n/)
    .map((line) => line.replace(/(^|\s)#.*$/, "").trim())
    .filter((line) => line !== "");
  return { python, requirements };
}

function shortVersion(text: string): string | undefined {
  const match = /^#\s*py(3)(\d{1,2})\s*$/m.exec(text);
  return match ? `${match[1]}.${match[2]}` : undefined;
}

export interface Locked {
  name: string;
  version: string;
  /** `sha256:…`, of each file that may be installed. */
  hashes: string[];
  /** Where it comes from when that is not the index, such as a URL that the script named. */
  url?: string | undefined;
}

/** @param python the version that it was resolved for */
export function formatPythonLock(python: string, packages: Locked[]): string {
  const lines = packages.map(({ name, version, hashes, url }) => {
    const what = url ? `${name} @ ${url}` : `${name}==${version}`;
    return [what, ...hashes.map((hash) => `--hash=${hash}`)].join(" ");
  });
  lines.sort((a, b) => (a.toLowerCase() < b.toLowerCase() ? -1 : 1));
  return [`# py: ${python}`, ...lines].join("\n");
}

/** Whether each requirement has a hash: then nothing else is installed. */
export function hasHashes({ requirements }: PythonLock): boolean {
  return requirements.length > 0 && requirements.every((line) => line.includes("--hash="));
}

/** The name of the folder that this lock is installed into, for a Python of this version. */
export function installationName(lock: PythonLock, python: string): string {
  return sha256(`${python}\n${lock.requirements.join("\n")}`);
}
