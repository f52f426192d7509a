import { STORED_KINDS, type StoredKindName } from "../../../src/features/triggers/common/stored/kinds.ts";
import type * as stored from "../../../src/features/triggers/common/stored/operations.ts";
import type * as http from "../../../src/features/triggers/http/operations.ts";
import type * as schedules from "../../../src/features/triggers/schedules/operations.ts";
import type * as websocket from "../../../src/features/triggers/websocket/operations.ts";
import { remote } from "../remote-operation.ts";

export const getHttpTrigger = remote<typeof http.getHttpTrigger>(
  "GET",
  "/w/{workspace}/http_triggers/get/{path}",
  "json",
);
export const updateHttpTrigger = remote<typeof http.updateHttpTrigger>(
  "POST",
  "/w/{workspace}/http_triggers/update/{path}",
  "text",
);
export const createHttpTrigger = remote<typeof http.createHttpTrigger>(
  "POST",
  "/w/{workspace}/http_triggers/create",
  "text",
);
export const deleteHttpTrigger = remote<typeof http.deleteHttpTrigger>(
  "DELETE",
  "/w/{workspace}/http_triggers/delete/{path}",
  "text",
);
export const listHttpTriggers = remote<typeof http.listHttpTriggers>(
  "GET",
  "/w/{workspace}/http_triggers/list",
  "json",
);
export const setHttpTriggerEnabled = remote<typeof http.setHttpTriggerEnabled>(
  "POST",
  "/w/{workspace}/http_triggers/setenabled/{path}",
  "text",
);

export const createSchedule = remote<typeof schedules.createSchedule>(
  "POST",
  "/w/{workspace}/schedules/create",
  "text",
);
export const deleteSchedule = remote<typeof schedules.deleteSchedule>(
  "DELETE",
  "/w/{workspace}/schedules/delete/{path}",
  "text",
);
export const getSchedule = remote<typeof schedules.getSchedule>(
  "GET",
  "/w/{workspace}/schedules/get/{path}",
  "json",
);
export const listSchedules = remote<typeof schedules.listSchedules>(
  "GET",
  "/w/{workspace}/schedules/list",
  "json",
);
export const setScheduleEnabled = remote<typeof schedules.setScheduleEnabled>(
  "POST",
  "/w/{workspace}/schedules/setenabled/{path}",
  "text",
);
export const previewSchedule = remote<typeof schedules.previewSchedule>("POST", "/schedules/preview", "json");
export const updateSchedule = remote<typeof schedules.updateSchedule>(
  "POST",
  "/w/{workspace}/schedules/update/{path}",
  "text",
);

export const getWebsocketTrigger = remote<typeof websocket.getWebsocketTrigger>(
  "GET",
  "/w/{workspace}/websocket_triggers/get/{path}",
  "json",
);
export const updateWebsocketTrigger = remote<typeof websocket.updateWebsocketTrigger>(
  "POST",
  "/w/{workspace}/websocket_triggers/update/{path}",
  "text",
);
export const createWebsocketTrigger = remote<typeof websocket.createWebsocketTrigger>(
  "POST",
  "/w/{workspace}/websocket_triggers/create",
  "text",
);
export const deleteWebsocketTrigger = remote<typeof websocket.deleteWebsocketTrigger>(
  "DELETE",
  "/w/{workspace}/websocket_triggers/delete/{path}",
  "text",
);
export const listWebsocketTriggers = remote<typeof websocket.listWebsocketTriggers>(
  "GET",
  "/w/{workspace}/websocket_triggers/list",
  "json",
);
export const setWebsocketTriggerEnabled = remote<typeof websocket.setWebsocketTriggerEnabled>(
  "POST",
  "/w/{workspace}/websocket_triggers/setenabled/{path}",
  "text",
);

type StoredOperations = (typeof stored.storedTriggerOperations)[StoredKindName];

/** The operations on triggers that are stored and not run, by kind. */
export const storedTriggers = Object.fromEntries(
  STORED_KINDS.map(({ kind }) => {
    const base = `/w/{workspace}/${kind}_triggers` as const;
    return [
      kind,
      {
        list: remote<StoredOperations["list"]>("GET", `${base}/list`, "json"),
        create: remote<StoredOperations["create"]>("POST", `${base}/create`, "text"),
        update: remote<StoredOperations["update"]>("POST", `${base}/update/{path}`, "text"),
        delete: remote<StoredOperations["delete"]>("DELETE", `${base}/delete/{path}`, "text"),
        setEnabled: remote<StoredOperations["setEnabled"]>("POST", `${base}/setenabled/{path}`, "text"),
      },
    ] as const;
  }),
) as Record<StoredKindName, RemoteStoredOperations>;

type RemoteStoredOperations = {
  [K in "list" | "create" | "update" | "delete" | "setEnabled"]: ReturnType<
    typeof remote<StoredOperations[K]>
  >;
};
