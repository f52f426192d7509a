/** Paths as bytes: file names need not be valid UTF-8. */
const SLASH = Buffer.from("/");

export function joinPathBytes(folder: Buffer, name: Buffer): Buffer {
  return Buffer.concat([folder, SLASH, name]);
}
