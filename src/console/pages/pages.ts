/** List of all workspace pages: path, lazily loaded module, navigation entry, first requests. */
import {
  IconBraces,
  IconCalendarTime,
  IconDatabase,
  IconHistory,
  IconHome,
  IconKey,
  IconPlayerPlay,
  IconServer,
  IconSettings,
  IconUsers,
  IconWebhook,
  IconWorldBolt,
} from "@tabler/icons-react";
import { queryClient } from "../api/client.ts";
import { runQuery } from "../api/runs.ts";
import { appsQuery, flowsWithDraftsQuery, scriptsWithDraftsQuery } from "../parts/items/lists.ts";
import type { Destination, PageModule } from "../shell/navigation.ts";
import { AUTHORS, type Audience, INSTANCE_ADMINS, WORKSPACE_ADMINS } from "./audiences.ts";
import { prefetchRuns } from "./runs/queries.ts";

type PageParams = { workspace: string } & Record<string, string>;

export interface Page {
  /** Below `/w/:workspace`; `:name` matches a segment, `*` the rest. */
  path: string;
  load: () => Promise<PageModule>;
  /**
   * Sends the page's first requests, while its files are still being loaded.
   * @param params the named segments of its address
   */
  prefetch?: (params: PageParams, search: URLSearchParams) => Promise<unknown>;
  /** Absent: all members. */
  audience?: Audience;
  nav?: Pick<Destination, "label" | "Icon">;
}

/** In navigation order. */
export const PAGES: Page[] = [
  {
    path: "",
    nav: { label: "Home", Icon: IconHome },
    load: () => import("./home/HomePage.tsx"),
    prefetch: ({ workspace }) =>
      Promise.all([
        queryClient.prefetchQuery(scriptsWithDraftsQuery(workspace)),
        queryClient.prefetchQuery(flowsWithDraftsQuery(workspace)),
        queryClient.prefetchQuery(appsQuery(workspace)),
      ]),
  },
  {
    path: "/runs",
    nav: { label: "Runs", Icon: IconPlayerPlay },
    load: () => import("./runs/RunsPage.tsx"),
    prefetch: ({ workspace }, search) => prefetchRuns(workspace, search),
  },
  {
    path: "/runs/:id",
    load: () => import("./run/RunPage.tsx"),
    prefetch: ({ workspace, id }) => queryClient.prefetchQuery(runQuery(workspace, id!)),
  },
  {
    path: "/schedules",
    nav: { label: "Schedules", Icon: IconCalendarTime },
    load: () => import("./triggers/schedules/SchedulesPage.tsx"),
  },
  { path: "/schedules/new", audience: AUTHORS, load: () => import("./triggers/schedules/EditPage.tsx") },
  { path: "/schedules/edit/*", audience: AUTHORS, load: () => import("./triggers/schedules/EditPage.tsx") },
  { path: "/schedules/p/*", load: () => import("./triggers/schedules/SchedulePage.tsx") },
  {
    path: "/triggers",
    nav: { label: "Triggers", Icon: IconWorldBolt },
    load: () => import("./triggers/TriggersPage.tsx"),
  },
  { path: "/triggers/http/new", audience: AUTHORS, load: () => import("./triggers/routes/EditPage.tsx") },
  { path: "/triggers/http/edit/*", audience: AUTHORS, load: () => import("./triggers/routes/EditPage.tsx") },
  { path: "/triggers/http/p/*", load: () => import("./triggers/routes/RoutePage.tsx") },
  {
    path: "/triggers/websocket/new",
    audience: AUTHORS,
    load: () => import("./triggers/sockets/EditPage.tsx"),
  },
  {
    path: "/triggers/websocket/edit/*",
    audience: AUTHORS,
    load: () => import("./triggers/sockets/EditPage.tsx"),
  },
  { path: "/triggers/websocket/p/*", load: () => import("./triggers/sockets/SocketPage.tsx") },
  {
    path: "/webhooks",
    audience: WORKSPACE_ADMINS,
    nav: { label: "Outgoing webhooks", Icon: IconWebhook },
    load: () => import("./triggers/webhooks/WebhooksPage.tsx"),
  },
  {
    path: "/webhooks/:id",
    audience: WORKSPACE_ADMINS,
    load: () => import("./triggers/webhooks/EndpointPage.tsx"),
  },
  {
    path: "/variables",
    nav: { label: "Variables", Icon: IconBraces },
    load: () => import("./assets/variables/VariablesPage.tsx"),
  },
  {
    path: "/resources",
    nav: { label: "Resources", Icon: IconDatabase },
    load: () => import("./assets/resources/ResourcesPage.tsx"),
  },
  { path: "/resources/new", audience: AUTHORS, load: () => import("./assets/resources/EditPage.tsx") },
  { path: "/resources/p/*", load: () => import("./assets/resources/EditPage.tsx") },
  { path: "/flows/*", load: () => import("./scripts/flow/FlowPage.tsx") },
  { path: "/draw/*", audience: AUTHORS, load: () => import("./scripts/flow-editor/FlowEditorPage.tsx") },
  { path: "/review/*", load: () => import("./scripts/flow-editor/ReviewPage.tsx") },
  { path: "/new/flow", audience: AUTHORS, load: () => import("./scripts/flow-editor/NewFlowPage.tsx") },
  { path: "/begin/:kind/*", load: () => import("./run/form/RunFormPage.tsx") },
  { path: "/apps/*", load: () => import("./scripts/app/AppPage.tsx") },
  { path: "/scripts/*", load: () => import("./scripts/view/ScriptPage.tsx") },
  { path: "/edit/*", audience: AUTHORS, load: () => import("./scripts/edit/EditPage.tsx") },
  { path: "/new/script", audience: AUTHORS, load: () => import("./scripts/edit/NewScriptPage.tsx") },
  {
    path: "/people",
    nav: { label: "People", Icon: IconUsers },
    load: () => import("./admin/people/PeoplePage.tsx"),
  },
  {
    path: "/audit",
    audience: WORKSPACE_ADMINS,
    nav: { label: "Audit log", Icon: IconHistory },
    load: () => import("./admin/audit/AuditPage.tsx"),
  },
  {
    path: "/settings",
    nav: { label: "Settings", Icon: IconSettings },
    load: () => import("./admin/settings/SettingsPage.tsx"),
  },
  {
    path: "/tokens",
    nav: { label: "Your tokens", Icon: IconKey },
    load: () => import("./admin/tokens/TokensPage.tsx"),
  },
  {
    path: "/instance",
    audience: INSTANCE_ADMINS,
    nav: { label: "Instance", Icon: IconServer },
    load: () => import("./admin/instance/InstancePage.tsx"),
  },
];
