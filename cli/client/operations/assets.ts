import type * as resources from "../../../src/features/assets/resources/operations.ts";
import type * as type from "../../../src/features/assets/resources/type-operations.ts";
import type * as variables from "../../../src/features/assets/variables/operations.ts";
import { remote } from "../remote-operation.ts";

export const createResource = remote<typeof resources.createResource>(
  "POST",
  "/w/{workspace}/resources/create",
  "text",
);
export const deleteResource = remote<typeof resources.deleteResource>(
  "DELETE",
  "/w/{workspace}/resources/delete/{path}",
  "text",
);
export const existsResource = remote<typeof resources.existsResource>(
  "GET",
  "/w/{workspace}/resources/exists/{path}",
  "json",
);
export const getResource = remote<typeof resources.getResource>(
  "GET",
  "/w/{workspace}/resources/get/{path}",
  "json",
);
export const listResources = remote<typeof resources.listResources>(
  "GET",
  "/w/{workspace}/resources/list",
  "json",
);
export const updateResource = remote<typeof resources.updateResource>(
  "POST",
  "/w/{workspace}/resources/update/{path}",
  "text",
);

export const createResourceType = remote<typeof type.createResourceType>(
  "POST",
  "/w/{workspace}/resources/type/create",
  "text",
);
export const deleteResourceType = remote<typeof type.deleteResourceType>(
  "DELETE",
  "/w/{workspace}/resources/type/delete/{name}",
  "text",
);
export const getResourceType = remote<typeof type.getResourceType>(
  "GET",
  "/w/{workspace}/resources/type/get/{name}",
  "json",
);
export const listResourceTypes = remote<typeof type.listResourceTypes>(
  "GET",
  "/w/{workspace}/resources/type/list",
  "json",
);
export const updateResourceType = remote<typeof type.updateResourceType>(
  "POST",
  "/w/{workspace}/resources/type/update/{name}",
  "text",
);
export const fileResourceTypes = remote<typeof type.fileResourceTypes>(
  "GET",
  "/w/{workspace}/resources/file_resource_type_to_file_ext_map",
  "json",
);

export const createVariable = remote<typeof variables.createVariable>(
  "POST",
  "/w/{workspace}/variables/create",
  "text",
);
export const deleteVariable = remote<typeof variables.deleteVariable>(
  "DELETE",
  "/w/{workspace}/variables/delete/{path}",
  "text",
);
export const existsVariable = remote<typeof variables.existsVariable>(
  "GET",
  "/w/{workspace}/variables/exists/{path}",
  "json",
);
export const getVariable = remote<typeof variables.getVariable>(
  "GET",
  "/w/{workspace}/variables/get/{path}",
  "json",
);
export const listVariables = remote<typeof variables.listVariables>(
  "GET",
  "/w/{workspace}/variables/list",
  "json",
);
export const updateVariable = remote<typeof variables.updateVariable>(
  "POST",
  "/w/{workspace}/variables/update/{path}",
  "text",
);
