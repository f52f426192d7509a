/** Whether there is a newer version of this software: asked where the operator says, and nowhere else. */

import { perApp } from "../../../lib/async/per-app.ts";
import { BadRequest } from "../../../lib/errors.ts";
import { parseJson } from "../../../lib/json/json.ts";
import { VERSION } from "../../../lib/version.ts";
import type { App } from "../../../platform/app/context.ts";
import { askNamed, isSuccess } from "../../../platform/outgoing/settings.ts";

const ANSWER_MS = 5_000;
const MAX_ANSWER = 100_000;
/** What was found out, or why nothing was, is told for so long. */
const REMEMBERED_MS = 3_600_000;

/** The newest version, or why it is not known. */
type Newest = { version: string } | { unknown: string };

interface Asked {
  url: string;
  until: number;
  newest: Promise<Newest>;
}

const askedBy = perApp<App, { last?: Asked }>(() => ({}));

/** @returns `yes`, `Update: <this> -> <newest>`, or `unknown: ` and why */
export async function compareWithNewest(app: App): Promise<string> {
  const url = app.settings.get("newest_version_url");
  if (url === undefined) return "unknown: the setting newest_version_url names no address to compare with";
  const asked = askedBy(app);
  const now = app.clock().getTime();
  if (asked.last?.url !== url || asked.last.until <= now) {
    asked.last = { url, until: now + REMEMBERED_MS, newest: ask(app, url) };
  }
  const newest = await asked.last.newest;
  if ("unknown" in newest) return `unknown: ${newest.unknown}`;
  return isNewer(newest.version, VERSION) ? `Update: ${VERSION} -> ${newest.version}` : "yes";
}

async function ask(app: App, url: string): Promise<Newest> {
  try {
    const answer = await askNamed(app, { url, method: "GET", timeout_ms: ANSWER_MS, max_bytes: MAX_ANSWER });
    const { host } = new URL(url);
    if (!isSuccess(answer)) return { unknown: `${host} answers with status ${answer.status}` };
    const version = versionIn(answer.body.toString());
    return version === undefined ? { unknown: `${host} names no version` } : { version };
  } catch (cause) {
    if (cause instanceof BadRequest) return { unknown: cause.message };
    throw cause;
  }
}

/** Of a text such as `v1.2.3`, or of JSON with `version` or `tag_name`. */
function versionIn(text: string): string | undefined {
  let said: unknown = text.trim();
  try {
    const value = parseJson(text) as { version?: unknown; tag_name?: unknown } | null;
    said = value?.version ?? value?.tag_name;
  } catch {
    // No JSON: the text itself.
  }
  return typeof said === "string" ? /^v?(\d+\.\d+\.\d+)\b/.exec(said)?.[1] : undefined;
}

function isNewer(one: string, other: string): boolean {
  const partsOf = (version: string) => version.split(".").map((part) => Number.parseInt(part, 10));
  const [a, b] = [partsOf(one), partsOf(other)];
  const differing = a.findIndex((part, index) => part !== b[index]);
  return differing >= 0 && a[differing]! > (b[differing] ?? 0);
}
