import { INTERFACE_VERSION, VERSION } from "../../../lib/version.ts";
import { requireDescriptionAccess } from "../../../platform/http/openapi/openapi.ts";
import {
  type Operation,
  operation,
  ResponseWithHeaders,
  responds,
} from "../../../platform/http/operation.ts";
import { describeUpdate } from "./latest-release.ts";

/**
 * Returns the version of the HTTP interface, by which clients decide which operations they may call. The program's own
 * version is the suffix, which they leave out when they compare, and a header.
 */
export const getVersion = operation({
  name: "getVersion",
  method: "GET",
  path: "/version",
  access: "anyone",
  scope: false,
  summary:
    "Read the version of the HTTP interface, with that of the server as its suffix and in `svc-version`",
  responds: responds.text("such as `CE v1.423.2-svc.0.1.0`"),
  run: (ctx) => {
    requireDescriptionAccess(ctx);
    return new ResponseWithHeaders(`CE v${INTERFACE_VERSION}-svc.${VERSION}`, { "svc-version": VERSION });
  },
});

export const getUpToDate = operation({
  name: "getUpToDate",
  method: "GET",
  path: "/uptodate",
  access: "user",
  allowsWorkspaceTokens: true,
  scope: false,
  summary: "Check whether the server is up to date, if the setting newest_version_url is set",
  responds: responds.text("`yes`, `Update: <version> -> <newest>`, or `unknown: ` and why"),
  run: ({ app }) => describeUpdate(app),
});

export const instanceOperations: Operation[] = [getVersion, getUpToDate];
