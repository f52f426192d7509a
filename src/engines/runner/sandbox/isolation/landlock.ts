/** Landlock's access rights (linux/landlock.h), by ABI version. */

const EXECUTE = 1 << 0;
const WRITE_FILE = 1 << 1;
const READ_FILE = 1 << 2;
const READ_DIR = 1 << 3;
/** Removing, creating and renaming, one bit per file type: bits 4 to 12. */
const CHANGE_DIR = 0x1ff0;
const REFER = 1 << 13;
const TRUNCATE = 1 << 14;
const IOCTL_DEV = 1 << 15;

/** Rights that a rule may grant, for folders or single files. */
const ACCESS_RIGHTS = {
  read: READ_FILE | READ_DIR | EXECUTE,
  write: EXECUTE | WRITE_FILE | READ_FILE | READ_DIR | CHANGE_DIR | REFER | TRUNCATE,
  readFile: READ_FILE | EXECUTE,
  device: READ_FILE | WRITE_FILE | TRUNCATE | IOCTL_DEV,
} as const;

export type AccessRight = keyof typeof ACCESS_RIGHTS;

/** A path and the rights it grants, as Landlock's bits. */
export type LandlockRule = [path: string, rights: number];

const CONNECT_TCP = 1 << 1;
const SCOPE_ABSTRACT_UNIX_SOCKET = 1 << 0;
const SCOPE_SIGNAL = 1 << 1;

/** Returns all file rights that this version can restrict. */
function handledRights(abi: number): number {
  let rights = EXECUTE | WRITE_FILE | READ_FILE | READ_DIR | CHANGE_DIR;
  if (abi >= 2) rights |= REFER;
  if (abi >= 3) rights |= TRUNCATE;
  if (abi >= 5) rights |= IOCTL_DEV;
  return rights;
}

/** Returns which restrictions a version offers beside files. */
export function describeLandlockFeatures(abi: number): {
  truncation: boolean;
  ports: boolean;
  signals: boolean;
} {
  return { truncation: abi >= 3, ports: abi >= 4, signals: abi >= 6 };
}

/**
 * Returns struct landlock_ruleset_attr in 64-bit words, in the version's length.
 * @param withPorts restricts TCP connections to rules
 */
export function createRuleset(abi: number, withPorts: boolean): number[] {
  const fields = [handledRights(abi)];
  if (abi >= 4) fields.push(withPorts ? CONNECT_TCP : 0);
  if (abi >= 6) fields.push(SCOPE_ABSTRACT_UNIX_SOCKET | SCOPE_SIGNAL);
  return fields;
}

/** Returns the rights that this version supports; the kernel rejects others. */
export function filterSupportedRights(abi: number, right: AccessRight): number {
  return ACCESS_RIGHTS[right] & handledRights(abi);
}

/** Returns struct landlock_net_port_attr in 64-bit words. */
export function createPortRule(port: number): number[] {
  return [CONNECT_TCP, port];
}
