import metadata from "../../package.json" with { type: "json" };

/** The version of this software, as package.json has it. */
export const VERSION: string = metadata.version;
