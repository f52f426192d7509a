/**
 * The runtime reads some of its settings from the environment, before any code runs. A server therefore starts its
 * executable once more with them (execve: the same process, files and signals), which delays it by as long as
 * `--version` takes.
 */

/**
 * Memory is not touched in advance by another thread, whose processor time a busy server needs. Unused parts of pages
 * are returned to the system ten times a second: continuously costs a busy server a tenth of its rate, and every two
 * seconds keeps some 40 MB longer after many jobs. Large pages (`MIMALLOC_ALLOW_THP`) help commands, but take a busy
 * server half as much time again. Garbage is collected after 10 MB of new objects instead of 32 MB, so that a busy
 * server needs some 40 MB less and is not slower; at 4 MB, collecting costs more.
 */
const SETTINGS: Record<string, string> = {
  BUN_JSC_largeHeapSize: "10000000",
  BUN_JSC_useWarmUpMarkedBlocks: "0",
  MIMALLOC_PURGE_HOLES_MIN_INTERVAL: "100",
};
const SERVERS = ["serve", "worker"];

/** The environment variable which says that the settings have been made. */
const TUNED = "SVC_TUNED";

/**
 * Starts the executable again with the settings if the command is a server's; without them if that fails. Values of the
 * user take precedence, and processes that this one starts do not inherit the settings. The program's source is not
 * restarted: it runs with flags of its runtime, such as `--watch`.
 * @param argv words after the program
 */
export function tuneRuntime(argv: string[]): void {
  const { env, execve } = process;
  if (process.platform !== "linux" || !import.meta.path.startsWith("/$bunfs/") || !execve) return;
  if (!SERVERS.includes(argv[0]!)) return;
  if (env[TUNED] === undefined) {
    try {
      execve(process.execPath, [process.argv0, ...argv], { ...SETTINGS, ...env, [TUNED]: "1" });
    } catch {
      return;
    }
  }
  delete env[TUNED];
  for (const [name, value] of Object.entries(SETTINGS)) if (env[name] === value) delete env[name];
}
