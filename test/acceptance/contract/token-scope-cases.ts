/** The scope that each operation requires, written down independently of the code. */
import { getRequiredScope, type Operation } from "../../../src/platform/http/operation.ts";

/** Domains of the contract's scopes. */
export const DOMAINS =
  `jobs scripts flows apps raw_apps variables resources schedules folders users groups workspaces acls
audit settings workers service_logs configs oauth oidc ai inputs drafts favorites capture job_helpers concurrency_groups
agent_workers openapi indexer git_sync teams mcp http_triggers websocket_triggers kafka_triggers nats_triggers
mqtt_triggers amqp_triggers sqs_triggers gcp_triggers azure_triggers postgres_triggers email_triggers`.split(
    /\s+/,
  );

/** Domains that the contract has no scope for, and what they are. */
export const OWN_DOMAINS: Record<string, string> = {
  webhooks: "several webhooks of a workspace are an extension, which no scope of the interface is about",
  metrics: "figures for the operator, who is to give out a token for them alone",
};

/** Scope domains of paths whose first segment differs. */
const NOUNS: Record<string, string> = {
  // Dependency lists belong to the workspace, like its settings.
  workspace_dependencies: "workspaces",
  job_metrics: "jobs",
  job_u: "jobs",
  approve: "jobs",
  saml: "settings",
  srch: "indexer",
  embeddings: "scripts",
  integrations: "scripts",
};

/** Scope domains of operations whose path contains none. */
const NOUN_OF: Record<string, string> = {
  // Existing clients call it below apps, but it grants access to files.
  signS3Objects: "job_helpers",
  queryResourceTypes: "resources",
};

/** Operations that every token may call, however restricted. */
const EXEMPT: Record<string, string[]> = {
  "says nothing of what is in the instance": [
    ..."getVersion getUpToDate getLicenseId getHealth getLiveness getOpenApiYaml getReference frontDoor listScopes".split(
      " ",
    ),
    ..."getOidcIssuer getOidcIssuerAtRoot getOidcKeys listOAuthLogins existsWorkspace existsUsername".split(
      " ",
    ),
  ],
  "says whose token it is": "globalWhoami getCurrentEmail whoami".split(" "),
  "is about no token, or about the presented one's end": [
    ..."login logout logoutByLink isSmtpConfigured requestPasswordReset resetPassword getSetupPage completeSetup beginOAuthLogin loginWithOauth".split(
      " ",
    ),
    ..."oauthLoginPage oauthConnectPage chatConnectPage".split(" "),
    // A restricted token counts as none there: the page asks for a password.
    ..."getCliLoginPage completeCliLogin getCliLoginDone".split(" "),
  ],
  "refuses restricted tokens by itself": ["refreshUserToken"],
  "is asked for in another way: the product's signature, a token in the path, or what the route's author chose, the link's own":
    "getTokenedRawScript readSignedS3Object chatCommand slackCommand answerRouteGet answerRoutePost answerRoutePut answerRoutePatch answerRouteDelete".split(
      " ",
    ),
  "starts nothing, and keeps what comes only while an author of the receiver asks for it":
    "captureWebhook updateCapture captureRouteGet captureRoutePost captureRoutePut captureRoutePatch captureRouteDelete".split(
      " ",
    ),
  "asks for the right to run what it finds, once that is known (see the last test)": [
    ...["ScriptByPath", "ScriptByHash", "FlowByPath", "FlowByVersion"].flatMap((target) => [
      `run${target}`,
      ...["runWaitResult", "runAndStream"].flatMap((way) => [`${way}${target}`, `${way}${target}Get`]),
    ]),
    ..."aiSyncScriptByPath aiSyncFlowByPath openaiSyncScriptByPath openaiSyncFlowByPath".split(" "),
    ..."restartFlowAtStep restartFlowAtBranchOrIteration restartFlowAtPoint resumeSuspendedFlowAsOwner".split(
      " ",
    ),
  ],
};
export const EXEMPT_OPERATIONS = new Set(Object.values(EXEMPT).flat());

type Action = "read" | "write" | "run";

/** Actions that do not follow from the method. */
const ACTIONS: [action: Action, why: string, names: string][] = [
  ["write", "it gives away what others are kept from", "globalUsersExport getWorkspaceEncryptionKey"],
  ["write", "it changes something, though it is a GET", "moveS3File"],
  ["write", "its answer lets anybody resume the flow", "createJobSignature getResumeUrls"],
  ["write", "its answer lets anybody read the files", "signS3Objects"],
  ["write", "a link that acts", "resumeSuspendedJobGet cancelSuspendedJobGet getApprovalPage"],
  [
    "read",
    "its POST carries a question",
    "listSelectedJobGroups listLatestRuns getStartedAtByIds getJobMetrics previewSchedule existsRoute existsUserInWorkspace",
  ],
  [
    "run",
    "it runs code",
    "executeComponent addBatchJobs batchReRunJobs runPreview runWaitResultPreview runPreviewBundle runFlowPreview " +
      "runWaitResultFlowPreview runDependencies runDependenciesAsync runFlowDependencies runFlowDependenciesAsync " +
      "runWorkflowAsCodeTask runWorkflowAsCode runDynamicSelect callAgentTools",
  ],
];
const actions = new Map(
  ACTIONS.flatMap(([action, , names]) => names.split(" ").map((name) => [name, action])),
);

export function expectedScope({ name, method, path }: Operation): { domain: string; action: Action } {
  const word = path.split("/").find((part) => part !== "" && part !== "w" && !part.startsWith("{"))!;
  const domain = NOUN_OF[name] ?? NOUNS[word] ?? word.replace(/_u$/, "");
  return { domain, action: actions.get(name) ?? (method === "GET" ? "read" : "write") };
}

/** Returns the scopes that permit an operation: write includes read, and run includes reading jobs. */
export function listGrantingScopes(op: Operation): string[] {
  const { domain, action } = expectedScope(op);
  if (action !== "read") return [`${domain}:${action}`];
  const scope = getRequiredScope(op);
  const ofOneJob = domain === "jobs" && scope && !scope.many;
  const runs = ofOneJob ? ["jobs:run", "jobs:run:scripts", "jobs:run:flows"] : [];
  return [`${domain}:read`, `${domain}:write`, ...runs];
}

export const SCOPES = [...DOMAINS, ...Object.keys(OWN_DOMAINS)].flatMap((domain) => [
  ...["read", "write", "run"].map((action) => `${domain}:${action}`),
  ...(domain === "jobs" ? ["jobs:run:scripts", "jobs:run:flows"] : []),
]);
