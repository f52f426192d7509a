import { EXIT } from "./text/failure.ts";

/** Does the work with Ctrl-C in hand: the first one calls `interrupted`, a second one ends the process at once. */
export async function withInterrupt<T>(interrupted: () => void, work: () => Promise<T>): Promise<T> {
  let again = false;
  const listen = () => {
    if (again) process.exit(EXIT.interrupted);
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
