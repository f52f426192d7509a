/** The last comment of a getupdate_sse stream at its time limit: the client reconnects with its offsets. */
export const LIMIT_COMMENT = "timeout";
