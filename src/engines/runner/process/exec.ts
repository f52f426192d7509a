/** Runs a program in place of a blank child; its exit ends the job. */
import type { Exec } from "../protocol.ts";
import type { ChildExit, RunOutcome } from "../types.ts";
import { type Child, ChildEnded, LoadFault } from "./child.ts";

/** @throws LoadFault if it cannot be started, ChildEnded */
export function execToExit(child: Child, exec: Omit<Exec, "t" | "keep_channel">): Promise<ChildExit> {
  return new Promise((resolve, reject) => {
    child.onExit = resolve;
    child.onMessage = (message) => {
      if (message.t === "load_failed") reject(new LoadFault(message.error));
    };
    if (child.exited) reject(new ChildEnded(child.exited));
    child.send({ t: "exec", keep_channel: false, ...exec });
  });
}

/** Describes a failed exit with the program's last output. */
export function exitFailure(child: Child, exit: ChildExit): RunOutcome {
  const how = exit.signal ? `was killed by ${exit.signal}` : `exited with code ${exit.code}`;
  const last = child.output.lastLines();
  const message = `the script ${how}${last ? `; its last output:\n${last}` : ""}`;
  return { kind: "failure", error: { name: "ExecutionErr", message } };
}
