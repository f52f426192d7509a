/** Paths as the system has them: a name is any bytes, which a text cannot always hold. */
const SLASH = Buffer.from("/");

export function within(folder: Buffer, name: Buffer): Buffer {
  return Buffer.concat([folder, SLASH, name]);
}
