/**
 * The list of all features. Functions that span all features (routes, rights, renaming, export, retention …) read the
 * declarations in their `feature.ts`; a new feature is a folder and a line here. Each feature may depend on those
 * listed after it, so background services are started from the last to the first.
 */

import { feature as acls } from "../features/accounts/acls/feature.ts";
import { feature as admin } from "../features/accounts/admin/feature.ts";
import { feature as folders } from "../features/accounts/folders/feature.ts";
import { feature as groups } from "../features/accounts/groups/feature.ts";
import { feature as members } from "../features/accounts/members/feature.ts";
import { feature as renaming } from "../features/accounts/renaming/feature.ts";
import { feature as sessions } from "../features/accounts/sessions/feature.ts";
import { feature as tokens } from "../features/accounts/tokens/feature.ts";
import { createScopeListOperation } from "../features/accounts/tokens/scope-list.ts";
import { feature as connecting } from "../features/assets/connecting/feature.ts";
import { feature as resources } from "../features/assets/resources/feature.ts";
import { feature as storage } from "../features/assets/storage/feature.ts";
import { feature as variables } from "../features/assets/variables/feature.ts";
import { feature as appsOfCode } from "../features/code/apps/feature.ts";
import { feature as dependencies } from "../features/code/dependencies/feature.ts";
import { feature as drafts } from "../features/code/drafts/feature.ts";
import { feature as favorites } from "../features/code/favorites/feature.ts";
import { feature as flows } from "../features/code/flows/feature.ts";
import { feature as runnables } from "../features/code/runnables/feature.ts";
import { feature as scripts } from "../features/code/scripts/feature.ts";
import { feature as health } from "../features/instance/health/feature.ts";
import { feature as hub } from "../features/instance/hub/feature.ts";
import { feature as license } from "../features/instance/license/feature.ts";
import { feature as oidc } from "../features/instance/oidc/feature.ts";
import { feature as saml } from "../features/instance/saml/feature.ts";
import { feature as self } from "../features/instance/self/feature.ts";
import { feature as settingsOfInstance } from "../features/instance/settings/feature.ts";
import { feature as workers } from "../features/instance/workers/feature.ts";
import { feature as archives } from "../features/lifecycle/export/feature.ts";
import { feature as keys } from "../features/lifecycle/keys/feature.ts";
import { feature as retention } from "../features/lifecycle/retention/feature.ts";
import { feature as settingsOfLifecycle } from "../features/lifecycle/settings/feature.ts";
import { feature as triggerCounts } from "../features/lifecycle/trigger-counts/feature.ts";
import { feature as workspacesOfLifecycle } from "../features/lifecycle/workspaces/feature.ts";
import { feature as api } from "../features/runs/api/feature.ts";
import { feature as approvals } from "../features/runs/approvals/feature.ts";
import { feature as flowsOfRuns } from "../features/runs/flows/feature.ts";
import { feature as follow } from "../features/runs/follow/feature.ts";
import { feature as search } from "../features/runs/search/feature.ts";
import { feature as submit } from "../features/runs/submit/feature.ts";
import { feature as worker } from "../features/runs/worker/feature.ts";
import { feature as alerts } from "../features/signals/alerts/feature.ts";
import { feature as audit } from "../features/signals/audit/feature.ts";
import { feature as mail } from "../features/signals/mail/feature.ts";
import { feature as webhooks } from "../features/signals/webhooks/feature.ts";
import { feature as resumable } from "../features/tenancy/resumable/feature.ts";
import { feature as workspacesOfTenancy } from "../features/tenancy/workspaces/feature.ts";
import { feature as appsOfTriggers } from "../features/triggers/apps/feature.ts";
import { feature as captures } from "../features/triggers/captures/feature.ts";
import { feature as chat } from "../features/triggers/chat/feature.ts";
import { feature as stored } from "../features/triggers/common/stored/feature.ts";
import { feature as handlers } from "../features/triggers/handlers/feature.ts";
import { feature as http } from "../features/triggers/http/feature.ts";
import { feature as mcp } from "../features/triggers/mcp/feature.ts";
import { feature as schedules } from "../features/triggers/schedules/feature.ts";
import { feature as websocket } from "../features/triggers/websocket/feature.ts";
import type { Feature } from "../platform/app/feature.ts";
import type { MountedFeature } from "../platform/http/feature.ts";
import { createOpenapiOperation } from "../platform/http/openapi/openapi.ts";
import { createReferenceOperation } from "../platform/http/openapi/reference-page.ts";
import type { Operation } from "../platform/http/operation.ts";
import { API_TAG_ALIASES, API_TAGS } from "./api-tags.ts";
import { rootPage } from "./console/root-page.ts";

const mountedFeatures: MountedFeature[] = [
  health,
  hub,
  license,
  oidc,
  saml,
  self,
  settingsOfInstance,
  workers,
  appsOfTriggers,
  captures,
  chat,
  handlers,
  http,
  mcp,
  schedules,
  stored,
  websocket,
  archives,
  keys,
  settingsOfLifecycle,
  triggerCounts,
  workspacesOfLifecycle,
  retention,
  resumable,
  api,
  search,
  worker,
  follow,
  approvals,
  flowsOfRuns,
  submit,
  acls,
  admin,
  folders,
  groups,
  members,
  renaming,
  sessions,
  tokens,
  appsOfCode,
  dependencies,
  drafts,
  favorites,
  flows,
  runnables,
  scripts,
  connecting,
  resources,
  storage,
  variables,
  alerts,
  audit,
  mail,
  webhooks,
  workspacesOfTenancy,
];

export const features: readonly Feature[] = mountedFeatures;

const apiTags = { descriptions: API_TAGS, aliases: API_TAG_ALIASES };

/** Operations that describe all operations. */
const SELF_DESCRIPTION: Record<string, Operation[]> = {
  "src/features/accounts/tokens/scope-list.ts": [createScopeListOperation(() => operations)],
  "src/platform/http/openapi/openapi.ts": [createOpenapiOperation(() => operations, apiTags)],
  "src/platform/http/openapi/reference-page.ts": [createReferenceOperation(() => operations, apiTags)],
  "src/server/console/root-page.ts": [rootPage],
};

/** Operations by their declaring file, relative to the repository; `svc routes` prints it. */
export const operationsByFile: ReadonlyMap<string, readonly Operation[]> = new Map([
  ...mountedFeatures.flatMap(({ folder, operations }) =>
    Object.entries(operations).map(([file, list]) => [`src/features/${folder}/${file}`, list] as const),
  ),
  ...Object.entries(SELF_DESCRIPTION),
]);

export const operations: Operation[] = [...operationsByFile.values()].flat();
