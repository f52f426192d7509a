/** Checks for a newer release, at the URL the operator configures and nowhere else. */

import { Cache } from "../../../lib/async/cache.ts";
import { memoizePerApp } from "../../../lib/async/per-app.ts";
import { BadRequest } from "../../../lib/errors.ts";
import { parseJson } from "../../../lib/json/json.ts";
import { VERSION } from "../../../lib/version.ts";
import type { App } from "../../../platform/app/context.ts";
import { isSuccess, requestConfiguredUrl } from "../../../platform/outgoing/configured-targets.ts";

const RESPONSE_TIMEOUT_MS = 5_000;
const MAX_RESPONSE_BYTES = 100_000;
/** How long the result, success or failure, is cached. */
const CACHE_TTL_MS = 3_600_000;

/** The latest version, or why it is unknown. */
type LatestVersion = { version: string } | { unknown: string };

/** By URL. */
const versionCache = memoizePerApp(
  (app: App) => new Cache<LatestVersion>({ max: 10, ttl_ms: CACHE_TTL_MS, now: () => app.clock().getTime() }),
);

/** Describes whether an update is available. @returns `yes`, `Update: <this> -> <newest>`, or `unknown: ` and why */
export async function describeUpdate(app: App): Promise<string> {
  const url = app.settings.get("newest_version_url");
  if (url === undefined) return "unknown: the setting newest_version_url names no address to compare with";
  const cache = versionCache(app);
  const newest = cache.get(url) ?? (await cache.load(url, () => fetchLatestVersion(app, url)));
  if ("unknown" in newest) return `unknown: ${newest.unknown}`;
  return isNewer(newest.version, VERSION) ? `Update: ${VERSION} -> ${newest.version}` : "yes";
}

async function fetchLatestVersion(app: App, url: string): Promise<LatestVersion> {
  try {
    const answer = await requestConfiguredUrl(app, {
      url,
      method: "GET",
      timeout_ms: RESPONSE_TIMEOUT_MS,
      max_bytes: MAX_RESPONSE_BYTES,
    });
    const { host } = new URL(url);
    if (!isSuccess(answer)) return { unknown: `${host} answered with status ${answer.status}` };
    const version = parseVersion(answer.body.toString());
    return version === undefined ? { unknown: `${host} names no version` } : { version };
  } catch (cause) {
    if (cause instanceof BadRequest) return { unknown: cause.message };
    throw cause;
  }
}

/** Parses a text such as `v1.2.3`, or JSON with `version` or `tag_name`. */
function parseVersion(text: string): string | undefined {
  let said: unknown = text.trim();
  try {
    const value = parseJson(text) as { version?: unknown; tag_name?: unknown } | null;
    said = value?.version ?? value?.tag_name;
  } catch {
    // Not JSON: the text itself may be the version.
  }
  return typeof said === "string" ? /^v?(\d+\.\d+\.\d+)\b/.exec(said)?.[1] : undefined;
}

function isNewer(one: string, other: string): boolean {
  const partsOf = (version: string) => version.split(".").map((part) => Number.parseInt(part, 10));
  const [a, b] = [partsOf(one), partsOf(other)];
  const differing = a.findIndex((part, index) => part !== b[index]);
  return differing >= 0 && a[differing]! > (b[differing] ?? 0);
}
