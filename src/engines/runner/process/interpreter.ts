/** Children that have become Python and wait for a script version. */
import type { RuntimeFiles } from "../files/runtime-files.ts";
import { awaitMessage, type Child, LoadFault } from "./child.ts";

/** Turns a blank child into Python; its `interpreter` resolves when that is done. @throws if the channel is closed */
export function turnIntoPython(child: Child, program: string, runtime: RuntimeFiles): Promise<void> {
  const turned = awaitMessage(child, "channel", "load_failed").then((answer) => {
    if (answer.t === "load_failed") throw new LoadFault(answer.error);
  });
  child.interpreter = turned;
  child.send({
    t: "exec",
    program,
    argv: [program, "-u", runtime.python],
    environment: { LANG: "C.UTF-8", ...child.base_environment },
    keep_channel: true,
  });
  return turned;
}
