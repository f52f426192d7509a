import { INTERFACE_VERSION } from "../../http/openapi.ts";
import { type Operation, operation, responds } from "../../http/operation.ts";

/** Clients decide by this what they may call, so it is the version of the interface, not of this program. */
export const getVersion = operation({
  name: "getVersion",
  method: "GET",
  path: "/version",
  access: "anyone",
  scope: false,
  summary: "Read the version of the interface that the server speaks",
  responds: responds.text("such as `CE v1.423.2`"),
  run: () => `CE v${INTERFACE_VERSION}`,
});

/** The server asks no one on the network whether there is a newer one: it says what it knows. */
export const getUpToDate = operation({
  name: "getUpToDate",
  method: "GET",
  path: "/uptodate",
  access: "user",
  bound: true,
  scope: false,
  summary: "Say whether the server is up to date",
  responds: responds.text("`yes` when nothing newer is known"),
  run: () => "yes",
});

export const instanceOperations: Operation[] = [getVersion, getUpToDate];
