/** The address that a new server listens on: parsing, and free ones to propose. */
import { PRIVILEGED_PORT_HINT } from "../../../../src/lib/network.ts";
import { parseWholeNumber } from "../../../program/options.ts";
import { CliError, createUsageError } from "../../../terminal/text/failure.ts";

export const DEFAULT_ADDRESS = "127.0.0.1:8000";
/** Number of ports tried to find one to propose. */
const PROPOSED_PORTS = 20;
const MAX_PORT = 65_535;

interface Address {
  host: string;
  port: number;
}

/**
 * Checks an address before anything is written, so that setup does not end with a server that cannot start.
 * @returns the address, with a free port in place of 0, so that each start uses the same one
 * @throws CliError if the address is taken
 */
export function chooseFreePort(address: Address): Address {
  const tried = tryPort(address);
  if (!(tried instanceof CliError)) return { ...address, port: tried };
  const free = findFreePort(address);
  if (!free) throw tried;
  throw new CliError("Address", `${tried.message}; ${free.host}:${free.port} is free`, {
    hint: `--listen ${free.host}:${free.port}, or port 0 for any`,
  });
}

/** Listens briefly. @returns the port, or the error */
function tryPort({ host, port }: Address): number | CliError {
  try {
    const listener = Bun.listen({ hostname: host, port, socket: { data() {} } });
    const found = listener.port;
    listener.stop(true);
    return found;
  } catch (cause) {
    const { code, message } = cause as Error & { code?: string };
    const problem = code === "EADDRINUSE" ? "is in use" : `cannot be listened on (${code ?? message})`;
    return new CliError("Address", `${host}:${port} ${problem}`, {
      hint: code === "EACCES" ? PRIVILEGED_PORT_HINT : undefined,
    });
  }
}

/** Finds the first address with a free port from the given one on; undefined if the next ones are all taken. */
function findFreePort({ host, port }: Address): Address | undefined {
  return Array.from({ length: PROPOSED_PORTS }, (_, index) => ({ host, port: port + index })).find(
    (each) => each.port <= MAX_PORT && tryPort(each) instanceof CliError === false,
  );
}

/** Parses `127.0.0.1:8000`, `[::1]:8000`, or just a port. @throws a usage error */
export function parseAddress(text: string): Address {
  const [, host = "127.0.0.1", port] = /^(?:(\[[^\]]+\]|[^:\s]+):)?(\d+)$/.exec(text) ?? [];
  if (port === undefined)
    throw createUsageError(`--listen ${text}: must be an address and a port`, `such as ${DEFAULT_ADDRESS}`);
  return { host: host.replace(/^\[|\]$/g, ""), port: parseWholeNumber("--listen", port, MAX_PORT) };
}

/** Returns the address to propose: the first one with a free port from the default on. */
export function proposeAddress(): string {
  const fallback = parseAddress(DEFAULT_ADDRESS);
  const { host, port } = findFreePort(fallback) ?? fallback;
  return `${host}:${port}`;
}
