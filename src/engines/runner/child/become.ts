/** Turns a blank child into Python or a tool. */
import { type Pointer, ptr } from "bun:ffi";
import type { Exec } from "../protocol.ts";
import { channelFd, sendToServer } from "./channel.ts";
import { libc } from "./system.ts";

const F_SETFD = 2;
const FD_CLOEXEC = 1;
const SIGPIPE = 13;
const SIGXFSZ = 25;

/** Replaces this process's program (execve): same process id, same pipes, no new start. */
export function replaceProcess(message: Exec): void {
  if (!libc) {
    sendToServer({
      t: "load_failed",
      error: { name: "ExecutionErr", message: "only Linux runs this language" },
    });
    return;
  }
  const held: Uint8Array[] = [];
  const text = (value: string): Pointer => {
    const bytes = Buffer.from(`${value}\0`);
    held.push(bytes);
    return ptr(bytes);
  };
  const list = (values: string[]): Pointer => {
    const pointers = new BigUint64Array(values.length + 1);
    values.forEach((value, index) => {
      pointers[index] = BigInt(text(value));
    });
    held.push(new Uint8Array(pointers.buffer));
    return ptr(pointers);
  };
  // Ignored signals stay ignored across execve; programs expect these two at their default.
  libc.signal(SIGPIPE, 0);
  libc.signal(SIGXFSZ, 0);
  libc.fcntl(channelFd, F_SETFD, message.keep_channel ? 0 : FD_CLOEXEC);
  const environment = {
    ...message.environment,
    ...(message.keep_channel ? { SVC_CHANNEL_FD: String(channelFd) } : {}),
  };
  const pairs = Object.entries(environment).map(([name, value]) => `${name}=${value}`);
  libc.execve(text(message.program), list(message.argv), list(pairs));
  sendToServer({
    t: "load_failed",
    error: { name: "ExecutionErr", message: `${message.program} could not be started` },
  });
}
