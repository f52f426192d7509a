/** How a child speaks to the pool. Taken before any of the user's code is loaded, which finds no `process.send`. */
import type { FromChild } from "../protocol.ts";

export const channelFd = Number(process.env.NODE_CHANNEL_FD ?? 3);
export const send = process.send!.bind(process) as (message: FromChild) => void;
