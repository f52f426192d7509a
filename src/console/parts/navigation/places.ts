/** Addresses of pages, relative to the console's base path. */
import { useParams } from "wouter";

const encoded = (path: string) => path.split("/").map(encodeURIComponent).join("/");

export type RunnableKind = "script" | "flow";

export const linkTo = {
  home: (workspace: string) => `/w/${workspace}`,
  runs: (workspace: string, filters: Record<string, string> = {}) => {
    const search = new URLSearchParams(filters);
    return `/w/${workspace}/runs${search.size > 0 ? `?${search}` : ""}`;
  },
  run: (workspace: string, id: string) => `/w/${workspace}/runs/${id}`,
  script: (workspace: string, path: string) => `/w/${workspace}/scripts/${encoded(path)}`,
  /** A version of a script, compared with the deployed one. */
  scriptVersion: (workspace: string, path: string, hash: string) =>
    `${linkTo.script(workspace, path)}?${new URLSearchParams({ tab: "versions", version: hash })}`,
  editScript: (workspace: string, path: string) => `/w/${workspace}/edit/${encoded(path)}`,
  newScript: (workspace: string) => `/w/${workspace}/new/script`,
  /** Run form of a script or flow. */
  begin: (workspace: string, kind: RunnableKind, path: string) =>
    `/w/${workspace}/begin/${kind}/${encoded(path)}`,
  /** Run form prefilled with the arguments of an earlier run. */
  beginLike: (workspace: string, kind: RunnableKind, path: string, run: string) =>
    `${linkTo.begin(workspace, kind, path)}?from=${run}`,
  flow: (workspace: string, path: string) => `/w/${workspace}/flows/${encoded(path)}`,
  /** Changes made by a version of a flow. */
  flowVersion: (workspace: string, path: string, version: number) =>
    `${linkTo.flow(workspace, path)}?${new URLSearchParams({ tab: "versions", after: String(version) })}`,
  app: (workspace: string, path: string) => `/w/${workspace}/apps/${encoded(path)}`,
  newFlow: (workspace: string) => `/w/${workspace}/new/flow`,
  /** Shows the changes of a user's draft of a flow. */
  review: (workspace: string, path: string, username: string) =>
    `/w/${workspace}/review/${encoded(path)}?${new URLSearchParams({ of: username })}`,
  /** Flow editor; `from` is a run whose values are shown, and a step to open. */
  draw: (workspace: string, path: string, from: { run?: string; step?: string } = {}) => {
    const search = new URLSearchParams(from);
    return `/w/${workspace}/draw/${encoded(path)}${search.size > 0 ? `?${search}` : ""}`;
  },
  schedules: (workspace: string) => `/w/${workspace}/schedules`,
  schedule: (workspace: string, path: string) => `/w/${workspace}/schedules/p/${encoded(path)}`,
  newSchedule: (workspace: string) => `/w/${workspace}/schedules/new`,
  editSchedule: (workspace: string, path: string) => `/w/${workspace}/schedules/edit/${encoded(path)}`,
  triggers: (workspace: string) => `/w/${workspace}/triggers`,
  route: (workspace: string, path: string) => `/w/${workspace}/triggers/http/p/${encoded(path)}`,
  newRoute: (workspace: string) => `/w/${workspace}/triggers/http/new`,
  editRoute: (workspace: string, path: string) => `/w/${workspace}/triggers/http/edit/${encoded(path)}`,
  sockets: (workspace: string) => `/w/${workspace}/triggers?tab=websockets`,
  socket: (workspace: string, path: string) => `/w/${workspace}/triggers/websocket/p/${encoded(path)}`,
  newSocket: (workspace: string) => `/w/${workspace}/triggers/websocket/new`,
  editSocket: (workspace: string, path: string) => `/w/${workspace}/triggers/websocket/edit/${encoded(path)}`,
  webhooks: (workspace: string) => `/w/${workspace}/webhooks`,
  webhook: (workspace: string, id: string) => `/w/${workspace}/webhooks/${id}`,
  resources: (workspace: string) => `/w/${workspace}/resources`,
  newResource: (workspace: string) => `/w/${workspace}/resources/new`,
  resource: (workspace: string, path: string) => `/w/${workspace}/resources/p/${encoded(path)}`,
};

/** Returns the workspace of the current address. */
export const useWorkspace = (): string => useParams<{ workspace: string }>().workspace;
