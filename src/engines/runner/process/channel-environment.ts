/** Variables by which a child's runtime finds the channel to the server, for `process.send` (Node's names). */
export const CHANNEL_ENVIRONMENT = { NODE_CHANNEL_FD: "3", NODE_CHANNEL_SERIALIZATION_MODE: "json" };
