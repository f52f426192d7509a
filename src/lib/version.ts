import metadata from "../../package.json" with { type: "json" };

/** Version of this software, from package.json. */
export const VERSION: string = metadata.version;
