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
const RIGHTS = {
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
function handledRights(abi: number): number {
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

/** struct landlock_ruleset_attr in words of 64 bits, as long as the version knows it. @param withPorts TCP connections need a rule */
export function rulesetOf(abi: number, withPorts: boolean): number[] {
  const fields = [handledRights(abi)];
  if (abi >= 4) fields.push(withPorts ? CONNECT_TCP : 0);
  if (abi >= 6) fields.push(SCOPE_ABSTRACT_UNIX_SOCKET | SCOPE_SIGNAL);
  return fields;
}

/** What a rule may give in this version: others the kernel would not take. */
export function rightsIn(abi: number, right: Right): number {
  return RIGHTS[right] & handledRights(abi);
}

/** struct landlock_net_port_attr in words of 64 bits. */
export function portRule(port: number): number[] {
  return [CONNECT_TCP, port];
}
