/** Which changes are told, and in which words: each is one that leaves an audit row. */

/** Stands for the instance where else a workspace is named. */
export const INSTANCE = "global";

export const EVENT_TYPES = [
  "CreateScript",
  "UpdateScript",
  "DeleteScript",
  "DeleteScriptPath",
  "CreateFlow",
  "UpdateFlow",
  "ArchiveFlow",
  "DeleteFlow",
  "CreateApp",
  "UpdateApp",
  "DeleteApp",
  "CreateResource",
  "UpdateResource",
  "DeleteResource",
  "CreateResourceType",
  "UpdateResourceType",
  "DeleteResourceType",
  "CreateVariable",
  "UpdateVariable",
  "DeleteVariable",
  "CreateFolder",
  "UpdateFolder",
  "DeleteFolder",
  "TokenExpiringSoon",
  "TokenExpired",
] as const;

export type EventType = (typeof EVENT_TYPES)[number];

export interface ToldEvent {
  type: string;
  /** What is sent beside the type. */
  keys: Record<string, string>;
}

/** What an audit row says of a change. */
export interface Change {
  operation: string;
  workspace_id: string;
  /** The path, name or hash that was touched. */
  resource: string;
  parameters: Record<string, string>;
}

type Make = (change: Change) => ToldEvent;

const atPath =
  (type: EventType): Make =>
  ({ workspace_id: workspace, resource: path }) => ({ type, keys: { workspace, path } });

/** A rename says where it was and where it is; any other change has both the same. */
const moved =
  (type: EventType): Make =>
  ({ workspace_id: workspace, resource, parameters: { old_path, new_path } }) => ({
    type,
    keys: { workspace, old_path: old_path ?? resource, new_path: new_path ?? resource },
  });

const version =
  (type: EventType): Make =>
  ({ workspace_id: workspace, resource: path, parameters: { hash = "" } }) => ({
    type,
    keys: { workspace, path, hash },
  });

const named =
  (type: EventType): Make =>
  ({ workspace_id: workspace, resource: name }) => ({ type, keys: { workspace, name } });

const typeNamed =
  (type: EventType): Make =>
  ({ resource: name }) => ({ type, keys: { name } });

/** A path goes with all versions, a hash is one of them. */
const scriptGone: Make = (change) =>
  change.resource.includes("/")
    ? atPath("DeleteScriptPath")(change)
    : { type: "DeleteScript", keys: { workspace: change.workspace_id, hash: change.resource } };

const BY_OPERATION: Record<string, Make> = {
  "scripts.create": version("CreateScript"),
  "scripts.update": version("UpdateScript"),
  "scripts.archive": scriptGone,
  "scripts.delete": scriptGone,
  "flows.create": atPath("CreateFlow"),
  "flows.update": moved("UpdateFlow"),
  "flows.archive": atPath("ArchiveFlow"),
  "flows.delete": atPath("DeleteFlow"),
  "apps.create": atPath("CreateApp"),
  "apps.update": moved("UpdateApp"),
  "apps.delete": atPath("DeleteApp"),
  "resources.create": atPath("CreateResource"),
  "resources.update": moved("UpdateResource"),
  "resources.delete": atPath("DeleteResource"),
  "resource_types.create": typeNamed("CreateResourceType"),
  "resource_types.update": typeNamed("UpdateResourceType"),
  "resource_types.delete": typeNamed("DeleteResourceType"),
  "variables.create": atPath("CreateVariable"),
  "variables.update": moved("UpdateVariable"),
  "variables.delete": atPath("DeleteVariable"),
  "folder.create": named("CreateFolder"),
  "folder.update": named("UpdateFolder"),
  "folder.add_owner": named("UpdateFolder"),
  "folder.remove_owner": named("UpdateFolder"),
  "folder.delete": named("DeleteFolder"),
};

/** The event that a change is; undefined for changes nobody is told of. */
export function eventOf(change: Change): ToldEvent | undefined {
  return BY_OPERATION[change.operation]?.(change);
}
