/**
 * Scopes of restricted tokens. Two notations are accepted: `domain:action[:kind][:resource,…]`, and the older
 * `run:script/<path>`, `run:flow/<path>` and `jobs:…` names, which are mapped to the former.
 */

import { BadRequest, Forbidden } from "../../../lib/errors.ts";
import type { Identity } from "../../../platform/app/context.ts";
import type { OperationScope } from "../../../platform/http/operation.ts";

interface ScopeGrant {
  domain: string;
  action: "read" | "write" | "run";
  kind: "scripts" | "flows" | undefined;
  /** Empty: every resource. */
  resources: string[];
}

const LEGACY_SCOPES: Record<string, string> = {
  "jobs:listjobs": "jobs:read",
  "jobs:runscript": "jobs:run:scripts",
  "jobs:runflow": "jobs:run:flows",
  "jobs:resumeflow": "jobs:run:flows",
  "jobs:deletejob": "jobs:write",
};

/**
 * Prefix of the scope that limits a token to jobs with certain tags. It neither grants nor restricts anything else.
 */
const TAG_FILTER_PREFIX = "if_jobs:filter_tags:";

/** Valid domains: the nouns of the HTTP interface, and two of this service's own. */
const SCOPE_DOMAINS = new Set(
  `jobs scripts flows apps raw_apps variables resources schedules folders users groups workspaces acls audit settings
  workers service_logs configs oauth oidc ai inputs drafts favorites capture job_helpers concurrency_groups agent_workers
  openapi indexer git_sync teams mcp http_triggers websocket_triggers kafka_triggers nats_triggers mqtt_triggers
  amqp_triggers sqs_triggers gcp_triggers azure_triggers postgres_triggers email_triggers webhooks metrics`.split(
    /\s+/,
  ),
);

/**
 * Validates a scope of a new token. Existing tokens may have any domain.
 * @throws BadRequest for malformed text or an unknown domain
 */
export function requireValidScope(text: string): void {
  const grant = parseScope(text);
  if (!grant || SCOPE_DOMAINS.has(grant.domain)) return;
  throw new BadRequest(`"${text}" is not a scope: there is no domain ${grant.domain}`, {
    hint: "GET /api/tokens/list/scopes lists what a token can be restricted to",
  });
}

/**
 * Parses one scope.
 * @returns undefined for `if_jobs:filter_tags:…`, which grants nothing
 * @throws BadRequest for malformed text
 */
function parseScope(text: string): ScopeGrant | undefined {
  if (text.startsWith(TAG_FILTER_PREFIX)) return undefined;
  const legacyRun = /^run:(script|flow)\/(.+)$/.exec(text);
  const modern = legacyRun ? `jobs:run:${legacyRun[1]}s:${legacyRun[2]}` : (LEGACY_SCOPES[text] ?? text);
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

const parsedScopes = new WeakMap<string[], ScopeGrant[]>();

function parseScopes(scopes: string[]): ScopeGrant[] {
  let grants = parsedScopes.get(scopes);
  if (!grants) {
    grants = scopes.map(parseScope).filter((grant) => grant !== undefined);
    parsedScopes.set(scopes, grants);
  }
  return grants;
}

/** Whether a pattern matches a resource. `prefix/*` matches the prefix itself and everything below it. */
function matchesPattern(pattern: string, resource: string): boolean {
  if (!pattern.endsWith("/*")) return pattern === resource;
  const prefix = pattern.slice(0, -2);
  return resource === prefix || resource.startsWith(`${prefix}/`);
}

function grantAllows(grant: ScopeGrant, scope: OperationScope, resource: string | undefined): boolean {
  if (grant.domain !== scope.domain) return false;
  // A token that may run something may also read its jobs; the job is checked against the token once it is loaded.
  if (grant.action === "run" && scope.action === "read") {
    return (
      scope.domain === "jobs" && !scope.many && (resource === undefined || matchesResource(grant, resource))
    );
  }
  if (grant.action === "read" && scope.action !== "read") return false;
  if (grant.action === "write" && scope.action === "run") return false;
  if (grant.action === "run" && scope.action === "write") return false;
  if (grant.kind !== undefined && grant.kind !== scope.kind) return false;
  return matchesResource(grant, resource);
}

function matchesResource({ resources }: ScopeGrant, resource: string | undefined): boolean {
  if (resources.length === 0) return true;
  return resource !== undefined && resources.some((pattern) => matchesPattern(pattern, resource));
}

/** Whether the token is unrestricted or its scopes allow the operation. */
export function isScopeAllowed(
  { token }: Identity,
  scope: OperationScope,
  resource: string | undefined,
): boolean {
  if (!token?.scopes?.length) return true;
  const grants = parseScopes(token.scopes);
  return grants.length === 0 || grants.some((grant) => grantAllows(grant, scope, resource));
}

/**
 * Checks that the scopes of a token cover an operation on a resource.
 * @throws Forbidden when the token is restricted and does not cover the operation
 */
export function requireScope(identity: Identity, scope: OperationScope, resource: string | undefined): void {
  if (isScopeAllowed(identity, scope, resource)) return;
  const needed = [scope.domain, scope.action, scope.kind, resource]
    .filter((part) => part !== undefined)
    .join(":");
  throw new Forbidden(`Access denied. Required scope: ${needed}`);
}

/**
 * Whether the token can only run one script or flow, as a webhook token does. Such a token may be public: it can read
 * the jobs it started, but nothing about its owner.
 */
export function isTriggerToken({ token }: Identity): boolean {
  if (!token?.scopes?.length) return false;
  const [grant, ...others] = parseScopes(token.scopes);
  if (!grant || others.length > 0 || grant.domain !== "jobs" || grant.action !== "run") return false;
  return grant.resources.length === 1 && !grant.resources[0]!.endsWith("*");
}

/**
 * Rejects tokens that were created to run one script or flow.
 * @throws Forbidden for a token that can only run one script or flow
 */
export function requireNoTriggerToken(identity: Identity): void {
  if (!isTriggerToken(identity)) return;
  throw new Forbidden("the token may only run the script or flow it was created for, and read those runs");
}

/** Returns the tags of the jobs that the token may run and see; undefined: all jobs. */
export function listAllowedTags(identity: Identity | undefined): string[] | undefined {
  return parseTagFilter(identity?.token?.scopes);
}

function parseTagFilter(scopes: string[] | undefined): string[] | undefined {
  const filters = scopes?.filter((scope) => scope.startsWith(TAG_FILTER_PREFIX)) ?? [];
  if (filters.length === 0) return undefined;
  return filters.flatMap((filter) => filter.slice(TAG_FILTER_PREFIX.length).split(","));
}

/** Checks that a token may run jobs of a tag. @throws Forbidden when the token may not run jobs of this tag */
export function requireAllowedTag(identity: Identity, tag: string): void {
  const tags = listAllowedTags(identity);
  if (!tags || tags.includes(tag)) return;
  throw new Forbidden(`the token runs and sees jobs with the tag ${tags.join(" or ")} only, not ${tag}`);
}

/** Returns the paths of scripts and flows that a token's scopes name. */
export function listRunnables(scopes: string[] | null): { kind: "scripts" | "flows"; path: string }[] {
  return parseScopes(scopes ?? []).flatMap(({ domain, kind, resources }) =>
    domain === "jobs" && kind !== undefined ? resources.map((path) => ({ kind, path })) : [],
  );
}

/** Whether `inner` grants nothing that `outer` does not, so that a restricted token cannot create a stronger one. */
export function isScopeSubset(inner: string[] | undefined, outer: string[] | undefined): boolean {
  if (!outer || outer.length === 0) return true;
  if (!isTagSubset(inner, outer)) return false;
  const outerGrants = parseScopes(outer);
  if (outerGrants.length === 0) return true;
  const innerGrants = parseScopes(inner ?? []);
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
              wide.resources.some((pattern) => matchesPattern(pattern, resource)),
            ))),
    ),
  );
}

function isTagSubset(inner: string[] | undefined, outer: string[]): boolean {
  const wide = parseTagFilter(outer);
  return wide === undefined || parseTagFilter(inner)?.every((tag) => wide.includes(tag)) === true;
}
