import type * as settings from "../../../src/features/instance/settings/operations.ts";
import type * as workers from "../../../src/features/instance/workers/operations.ts";
import { remote } from "../remote-operation.ts";

export const getGlobalSetting = remote<typeof settings.getGlobalSetting>(
  "GET",
  "/settings/global/{key}",
  "json",
);
export const getLocalSettings = remote<typeof settings.getLocalSettings>("GET", "/settings/local", "json");
export const listGlobalSettings = remote<typeof settings.listGlobalSettings>(
  "GET",
  "/settings/list_global",
  "json",
);
export const setGlobalSetting = remote<typeof settings.setGlobalSetting>(
  "POST",
  "/settings/global/{key}",
  "text",
);

export const getCustomTags = remote<typeof workers.getCustomTags>("GET", "/workers/custom_tags", "json");
