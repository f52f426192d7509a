/**
 * What a restricted token may do. Two spellings are accepted: `domain:action[:kind][:resource,…]`, and the older
 * `run:script/<path>`, `run:flow/<path>` and `jobs:…` names, which are read as their newer counterparts.
 */

import { BadRequest, Forbidden } from "../../../lib/errors.ts";
import type { Identity } from "../../../platform/app/context.ts";
import type { Scope } from "../../../platform/http/operation.ts";

interface Grant {
  domain: string;
  action: "read" | "write" | "run";
  kind: "scripts" | "flows" | undefined;
  /** Empty: all. */
  resources: string[];
}

const LEGACY: Record<string, string> = {
  "jobs:listjobs": "jobs:read",
  "jobs:runscript": "jobs:run:scripts",
  "jobs:runflow": "jobs:run:flows",
  "jobs:resumeflow": "jobs:run:flows",
  "jobs:deletejob": "jobs:write",
};

/** Which jobs a token may run and see, by their tags; the rest of what it may do it leaves alone. */
const FILTER_TAGS = "if_jobs:filter_tags:";

/** What scopes may be for: the nouns of the interface, and two of this service's own. */
const DOMAINS = new Set(
  `jobs scripts flows apps raw_apps variables resources schedules folders users groups workspaces acls audit settings
  workers service_logs configs oauth oidc ai inputs drafts favorites capture job_helpers concurrency_groups agent_workers
  openapi indexer git_sync teams mcp http_triggers websocket_triggers kafka_triggers nats_triggers mqtt_triggers
  sqs_triggers gcp_triggers postgres_triggers email_triggers webhooks metrics`.split(/\s+/),
);

/**
 * Checks a scope that a new token is to have. Those of tokens there are already may be of any noun.
 * @throws BadRequest when the text is no scope, or of a noun that there is not
 */
export function checkScope(text: string): void {
  const grant = parseScope(text);
  if (!grant || DOMAINS.has(grant.domain)) return;
  throw new BadRequest(`"${text}" is not a scope: there are no ${grant.domain}`, {
    hint: "GET /api/tokens/list/scopes lists what a token can be restricted to",
  });
}

/**
 * Reads one scope.
 * @returns undefined for `if_jobs:filter_tags:…`, which grants nothing
 * @throws BadRequest when the text is no scope
 */
function parseScope(text: string): Grant | undefined {
  if (text.startsWith(FILTER_TAGS)) return undefined;
  const legacyRun = /^run:(script|flow)\/(.+)$/.exec(text);
  const modern = legacyRun ? `jobs:run:${legacyRun[1]}s:${legacyRun[2]}` : (LEGACY[text] ?? text);
  const [domain, action, ...rest] = modern.split(":");
  if (
    !domain ||
    !/^[a-z_]+$/.test(domain) ||
    (action !== "read" && action !== "write" && action !== "run" && action !== "delete")
  ) {
    throw new BadRequest(
      `"${text}" is not a scope: write domain:action[:resource], such as jobs:run:scripts:u/ann/hello`,
    );
  }
  const kind = domain === "jobs" && action === "run" ? rest.shift() : undefined;
  if (kind !== undefined && kind !== "scripts" && kind !== "flows") {
    throw new BadRequest(
      `"${text}" is not a scope: jobs:run takes scripts or flows, such as jobs:run:scripts:u/ann/hello`,
    );
  }
  const resources = rest
    .join(":")
    .split(",")
    .filter((resource) => resource !== "" && resource !== "*");
  return { domain, action: action === "delete" ? "write" : action, kind, resources };
}

const parsed = new WeakMap<string[], Grant[]>();

function grantsOf(scopes: string[]): Grant[] {
  let grants = parsed.get(scopes);
  if (!grants) {
    grants = scopes.map(parseScope).filter((grant) => grant !== undefined);
    parsed.set(scopes, grants);
  }
  return grants;
}

/** `prefix/*` covers what is below the prefix, and the prefix itself. */
function covers(pattern: string, resource: string): boolean {
  if (!pattern.endsWith("/*")) return pattern === resource;
  const prefix = pattern.slice(0, -2);
  return resource === prefix || resource.startsWith(`${prefix}/`);
}

function allows(grant: Grant, scope: Scope, resource: string | undefined): boolean {
  if (grant.domain !== scope.domain) return false;
  // Who may run something may see what becomes of it; which jobs these are is checked when the job is known.
  if (grant.action === "run" && scope.action === "read") {
    return scope.domain === "jobs" && !scope.many && (resource === undefined || isAmong(grant, resource));
  }
  if (grant.action === "read" && scope.action !== "read") return false;
  if (grant.action === "write" && scope.action === "run") return false;
  if (grant.action === "run" && scope.action === "write") return false;
  if (grant.kind !== undefined && grant.kind !== scope.kind) return false;
  return isAmong(grant, resource);
}

function isAmong({ resources }: Grant, resource: string | undefined): boolean {
  if (resources.length === 0) return true;
  return resource !== undefined && resources.some((pattern) => covers(pattern, resource));
}

/** Whether the token is not restricted, or covers the operation. */
export function isAllowed({ token }: Identity, scope: Scope, resource: string | undefined): boolean {
  if (!token?.scopes?.length) return true;
  const grants = grantsOf(token.scopes);
  return grants.length === 0 || grants.some((grant) => allows(grant, scope, resource));
}

/** @throws Forbidden when the token is restricted and does not cover the operation */
export function checkScopes(identity: Identity, scope: Scope, resource: string | undefined): void {
  if (isAllowed(identity, scope, resource)) return;
  const needed = [scope.domain, scope.action, scope.kind, resource]
    .filter((part) => part !== undefined)
    .join(":");
  throw new Forbidden(`Access denied. Required scope: ${needed}`);
}

/**
 * Whether the token was made to run one script or flow and for nothing else, as a webhook's is. It may be public: it
 * reads its runs, and nothing of whose it is.
 */
export function onlyTriggers({ token }: Identity): boolean {
  if (!token?.scopes?.length) return false;
  const [grant, ...others] = grantsOf(token.scopes);
  if (!grant || others.length > 0 || grant.domain !== "jobs" || grant.action !== "run") return false;
  return grant.resources.length === 1 && !grant.resources[0]!.endsWith("*");
}

/** @throws Forbidden for a token that only triggers something */
export function refuseTriggering(identity: Identity): void {
  if (!onlyTriggers(identity)) return;
  throw new Forbidden("the token runs what it was made for and reads those runs, and does nothing else");
}

/** The tags of the only jobs that the token may run and see; undefined: of any. */
export function tagsOf(identity: Identity | undefined): string[] | undefined {
  return tagsIn(identity?.token?.scopes);
}

function tagsIn(scopes: string[] | undefined): string[] | undefined {
  const filters = scopes?.filter((scope) => scope.startsWith(FILTER_TAGS)) ?? [];
  if (filters.length === 0) return undefined;
  return filters.flatMap((filter) => filter.slice(FILTER_TAGS.length).split(","));
}

/** @throws Forbidden when the token may not run jobs of this tag */
export function checkTag(identity: Identity, tag: string): void {
  const tags = tagsOf(identity);
  if (!tags || tags.includes(tag)) return;
  throw new Forbidden(`the token runs and sees jobs with the tag ${tags.join(" or ")} only, not ${tag}`);
}

/** The runnables that a restricted token names, by their path. */
export function runnablesOf(scopes: string[] | null): { kind: "scripts" | "flows"; path: string }[] {
  return grantsOf(scopes ?? []).flatMap(({ domain, kind, resources }) =>
    domain === "jobs" && kind !== undefined ? resources.map((path) => ({ kind, path })) : [],
  );
}

/** Whether every right of `inner` is one of `outer` too: a restricted token makes no stronger one. */
export function isWithin(inner: string[] | undefined, outer: string[] | undefined): boolean {
  if (!outer || outer.length === 0) return true;
  if (!isWithinTags(inner, outer)) return false;
  const outerGrants = grantsOf(outer);
  if (outerGrants.length === 0) return true;
  const innerGrants = grantsOf(inner ?? []);
  if (innerGrants.length === 0) return false;
  return innerGrants.every((grant) =>
    outerGrants.some(
      (wide) =>
        wide.domain === grant.domain &&
        (wide.action === grant.action || (wide.action === "write" && grant.action === "read")) &&
        (wide.kind === undefined || wide.kind === grant.kind) &&
        (wide.resources.length === 0 ||
          (grant.resources.length > 0 &&
            grant.resources.every((resource) =>
              wide.resources.some((pattern) => covers(pattern, resource)),
            ))),
    ),
  );
}

function isWithinTags(inner: string[] | undefined, outer: string[]): boolean {
  const wide = tagsIn(outer);
  return wide === undefined || tagsIn(inner)?.every((tag) => wide.includes(tag)) === true;
}
