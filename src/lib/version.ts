import metadata from "../../package.json" with { type: "json" };

/** Version of this software, from package.json. */
export const VERSION: string = metadata.version;

/** Version of the HTTP interface; clients check it to know which calls exist. */
export const INTERFACE_VERSION = "1.423.2";

/** Output of `svc --version`; the program's version is on a line of its own. */
export const VERSIONS_TEXT = `${VERSION}\ninterface ${INTERFACE_VERSION}`;
