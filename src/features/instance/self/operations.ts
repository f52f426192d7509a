import { INTERFACE_VERSION, requireDescriptionAccess } from "../../../platform/http/openapi/openapi.ts";
import { type Operation, operation, responds } from "../../../platform/http/operation.ts";
import { describeUpdate } from "./latest-release.ts";

/**
 * Clients decide by this version which operations they may call, so it is that of the interface, not of this program.
 */
export const getVersion = operation({
  name: "getVersion",
  method: "GET",
  path: "/version",
  access: "anyone",
  scope: false,
  summary: "Read the version of the interface that the server speaks",
  responds: responds.text("such as `CE v1.423.2`"),
  run: (ctx) => {
    requireDescriptionAccess(ctx);
    return `CE v${INTERFACE_VERSION}`;
  },
});

export const getUpToDate = operation({
  name: "getUpToDate",
  method: "GET",
  path: "/uptodate",
  access: "user",
  allowsWorkspaceTokens: true,
  scope: false,
  summary: "Say whether the server is up to date, which it knows where the setting newest_version_url leads",
  responds: responds.text("`yes`, `Update: <version> -> <newest>`, or `unknown: ` and why"),
  run: ({ app }) => describeUpdate(app),
});

export const instanceOperations: Operation[] = [getVersion, getUpToDate];
