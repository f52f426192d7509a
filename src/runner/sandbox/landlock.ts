/** What Landlock knows to ask about (linux/landlock.h), by the version of its interface in the kernel. */

const EXECUTE = 1 << 0;
const WRITE_FILE = 1 << 1;
const READ_FILE = 1 << 2;
const READ_DIR = 1 << 3;
/** Removing, making and renaming, each kind by itself: bits 4 to 12. */
const CHANGE_DIR = 0x1ff0;
const REFER = 1 << 13;
const TRUNCATE = 1 << 14;
const IOCTL_DEV = 1 << 15;

/** What a rule may give: to whole folders, or to single files. */
export const RIGHTS = {
  read: READ_FILE | READ_DIR | EXECUTE,
  write: EXECUTE | WRITE_FILE | READ_FILE | READ_DIR | CHANGE_DIR | REFER | TRUNCATE,
  readFile: READ_FILE | EXECUTE,
  device: READ_FILE | WRITE_FILE | TRUNCATE | IOCTL_DEV,
} as const;

export type Right = keyof typeof RIGHTS;

/** A path and what it gives, as a number that Landlock takes. */
export type Rule = [path: string, rights: number];

const CONNECT_TCP = 1 << 1;
const SCOPE_ABSTRACT_UNIX_SOCKET = 1 << 0;
const SCOPE_SIGNAL = 1 << 1;

/** Every right to files that this version can take away. */
export function handledRights(abi: number): number {
  let rights = EXECUTE | WRITE_FILE | READ_FILE | READ_DIR | CHANGE_DIR;
  if (abi >= 2) rights |= REFER;
  if (abi >= 3) rights |= TRUNCATE;
  if (abi >= 5) rights |= IOCTL_DEV;
  return rights;
}

/** Which walls a version gives, beside that around files. */
export function wallsOf(abi: number): { truncation: boolean; ports: boolean; signals: boolean } {
  return { truncation: abi >= 3, ports: abi >= 4, signals: abi >= 6 };
}

/** struct landlock_ruleset_attr, as long as the version knows it. @param withPorts TCP connections need a rule */
export function rulesetOf(abi: number, withPorts: boolean): BigUint64Array {
  const fields = [BigInt(handledRights(abi))];
  if (abi >= 4) fields.push(BigInt(withPorts ? CONNECT_TCP : 0));
  if (abi >= 6) fields.push(BigInt(SCOPE_ABSTRACT_UNIX_SOCKET | SCOPE_SIGNAL));
  return new BigUint64Array(fields);
}

export const RULE_PATH_BENEATH = 1;
export const RULE_NET_PORT = 2;

/** struct landlock_path_beneath_attr, which is packed. */
export function pathRule(abi: number, rights: number, descriptor: number): Uint8Array {
  const view = new DataView(new ArrayBuffer(12));
  view.setBigUint64(0, BigInt(rights & handledRights(abi)), true);
  view.setInt32(8, descriptor, true);
  return new Uint8Array(view.buffer);
}

/** struct landlock_net_port_attr. */
export function portRule(port: number): BigUint64Array {
  return new BigUint64Array([BigInt(CONNECT_TCP), BigInt(port)]);
}
