import metadata from "../../package.json" with { type: "json" };

/** Version of this software, from package.json. */
export const VERSION: string = metadata.version;

/** Version of the HTTP interface, by which clients decide what they may call. */
export const INTERFACE_VERSION = "1.423.2";

/** What `svc --version` prints: the program's version on a line of its own. */
export const VERSIONS_TEXT = `${VERSION}\ninterface ${INTERFACE_VERSION}`;
