/** Whether the package registry can be reached: the tests of other people's clients install them from there. */

const REGISTRY = process.env.npm_config_registry ?? "https://registry.npmjs.org/";
const PATIENCE_MS = 10_000;

async function isReachable(): Promise<boolean> {
  try {
    const answer = await fetch(new URL("windmill-client", REGISTRY), {
      method: "HEAD",
      signal: AbortSignal.timeout(PATIENCE_MS),
    });
    return answer.status < 500;
  } catch {
    return false;
  }
}

/** True when tests that install packages have to be left out, which is said. In CI they run, and fail instead. */
export const isOffline = !process.env.CI && !(await isReachable());

if (isOffline)
  console.warn("left out: the tests of existing clients, since the package registry is not reachable");
