/** List of all workspace pages: path, lazily loaded module, navigation entry. */
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
import type { May } from "../api/session.ts";
import type { Destination, PageModule } from "../shell/navigation.ts";

export interface Page {
  /** Below `/w/:workspace`; `:name` matches a segment, `*` the rest. */
  path: string;
  load: () => Promise<PageModule>;
  /** Whether it only creates or changes items, which operators may not. */
  isForAuthors?: true;
  nav?: Pick<Destination, "label" | "Icon"> & {
    /** Whether the signed-in user needs the page; absent: all users do. */
    isFor?: (may: May) => boolean;
  };
}

/** In navigation order. */
export const PAGES: Page[] = [
  { path: "", nav: { label: "Home", Icon: IconHome }, load: () => import("./home/HomePage.tsx") },
  { path: "/runs", nav: { label: "Runs", Icon: IconPlayerPlay }, load: () => import("./runs/RunsPage.tsx") },
  { path: "/runs/:id", load: () => import("./run/RunPage.tsx") },
  {
    path: "/schedules",
    nav: { label: "Schedules", Icon: IconCalendarTime },
    load: () => import("./triggers/schedules/SchedulesPage.tsx"),
  },
  { path: "/schedules/new", isForAuthors: true, load: () => import("./triggers/schedules/EditPage.tsx") },
  { path: "/schedules/edit/*", isForAuthors: true, load: () => import("./triggers/schedules/EditPage.tsx") },
  { path: "/schedules/p/*", load: () => import("./triggers/schedules/SchedulePage.tsx") },
  {
    path: "/triggers",
    nav: { label: "Triggers", Icon: IconWorldBolt },
    load: () => import("./triggers/TriggersPage.tsx"),
  },
  { path: "/triggers/http/new", isForAuthors: true, load: () => import("./triggers/routes/EditPage.tsx") },
  { path: "/triggers/http/edit/*", isForAuthors: true, load: () => import("./triggers/routes/EditPage.tsx") },
  { path: "/triggers/http/p/*", load: () => import("./triggers/routes/RoutePage.tsx") },
  {
    path: "/triggers/websocket/new",
    isForAuthors: true,
    load: () => import("./triggers/sockets/EditPage.tsx"),
  },
  {
    path: "/triggers/websocket/edit/*",
    isForAuthors: true,
    load: () => import("./triggers/sockets/EditPage.tsx"),
  },
  { path: "/triggers/websocket/p/*", load: () => import("./triggers/sockets/SocketPage.tsx") },
  {
    path: "/webhooks",
    nav: {
      label: "Outgoing webhooks",
      Icon: IconWebhook,
      isFor: (may) => may("GET /w/{workspace}/webhooks/list", "admin"),
    },
    load: () => import("./triggers/webhooks/WebhooksPage.tsx"),
  },
  { path: "/webhooks/:id", load: () => import("./triggers/webhooks/EndpointPage.tsx") },
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
  { path: "/resources/new", isForAuthors: true, load: () => import("./assets/resources/EditPage.tsx") },
  { path: "/resources/p/*", load: () => import("./assets/resources/EditPage.tsx") },
  { path: "/flows/*", load: () => import("./scripts/flow/FlowPage.tsx") },
  { path: "/draw/*", isForAuthors: true, load: () => import("./scripts/flow-editor/FlowEditorPage.tsx") },
  { path: "/review/*", load: () => import("./scripts/flow-editor/ReviewPage.tsx") },
  { path: "/new/flow", isForAuthors: true, load: () => import("./scripts/flow-editor/NewFlowPage.tsx") },
  { path: "/begin/:kind/*", load: () => import("./run/form/RunFormPage.tsx") },
  { path: "/apps/*", load: () => import("./scripts/app/AppPage.tsx") },
  { path: "/scripts/*", load: () => import("./scripts/view/ScriptPage.tsx") },
  { path: "/edit/*", isForAuthors: true, load: () => import("./scripts/edit/EditPage.tsx") },
  { path: "/new/script", isForAuthors: true, load: () => import("./scripts/edit/NewScriptPage.tsx") },
  {
    path: "/people",
    nav: { label: "People", Icon: IconUsers },
    load: () => import("./admin/people/PeoplePage.tsx"),
  },
  {
    path: "/audit",
    nav: {
      label: "Audit log",
      Icon: IconHistory,
      isFor: (may) => may("GET /w/{workspace}/audit/list", "admin"),
    },
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
    nav: {
      label: "Instance",
      Icon: IconServer,
      isFor: (may) => may("GET /settings/list_global", "devops"),
    },
    load: () => import("./admin/instance/InstancePage.tsx"),
  },
];
