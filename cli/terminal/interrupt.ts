import { EXIT_CODES } from "./text/failure.ts";

/** Runs the work with a handler for Ctrl-C: the first one calls `interrupted`, a second one ends the process. */
export async function withInterrupt<T>(interrupted: () => void, work: () => Promise<T>): Promise<T> {
  let again = false;
  const listen = () => {
    if (again) process.exit(EXIT_CODES.interrupted);
    again = true;
    interrupted();
  };
  process.on("SIGINT", listen);
  try {
    return await work();
  } finally {
    process.off("SIGINT", listen);
  }
}
