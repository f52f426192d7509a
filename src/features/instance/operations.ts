import { type Operation, operation, responds } from "../../http/operation.ts";
import { VERSION } from "../../lib/version.ts";

export const getVersion = operation({
  name: "getVersion",
  method: "GET",
  path: "/version",
  access: "anyone",
  scope: false,
  summary: "Read the version of the server",
  responds: responds.text("such as `CE v1.2.3`"),
  run: () => `CE v${VERSION}`,
});

/** The server asks no one on the network whether there is a newer one: it says what it knows. */
export const getUpToDate = operation({
  name: "getUpToDate",
  method: "GET",
  path: "/uptodate",
  access: "user",
  scope: false,
  summary: "Say whether the server is up to date",
  responds: responds.text("`yes` when nothing newer is known"),
  run: () => "yes",
});

export const getLicenseId = operation({
  name: "getLicenseId",
  method: "GET",
  path: "/ee_license",
  access: "user",
  scope: false,
  summary: "Read the id of the licence; empty without one",
  responds: responds.text("licence id or empty"),
  run: () => "",
});

export const instanceOperations: Operation[] = [getVersion, getUpToDate, getLicenseId];
