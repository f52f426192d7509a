/** The child's channel to the server. Loaded before any user code, which finds no `process.send`. */
import type { FromChild } from "../protocol.ts";

export const channelFd = Number(process.env.NODE_CHANNEL_FD ?? 3);
export const sendToServer = process.send!.bind(process) as (message: FromChild) => void;
