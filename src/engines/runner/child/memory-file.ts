/** Texts for a program, passed in memory, because arguments are visible to all users of the machine. */
import { type Pointer, ptr } from "bun:ffi";
import { libc, nodeFs } from "./system.ts";

const MFD_CLOEXEC = 1;
const NAME = Buffer.from("svc\0");

/** Writes a text to an anonymous file that only this user's processes can read. @returns its descriptor, at its start */
export function createMemoryFile(text: string): number {
  const fd = libc!.memfd_create(ptr(NAME) as Pointer, MFD_CLOEXEC);
  if (fd < 0) throw new Error("no memory file could be created");
  const bytes = Buffer.from(text);
  for (let at = 0; at < bytes.length; ) at += nodeFs().writeSync(fd, bytes, at, bytes.length - at, at);
  return fd;
}
