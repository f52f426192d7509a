/**
 * Output of a job whose start the server does not know yet: it is buffered until the job is the child's current
 * one.
 */
import { expect, test } from "bun:test";
import { ChildOutput } from "../../../src/engines/runner/output/child-output.ts";

const NONCE = "n0nce";
const announce = (sequence: number) => `\0${NONCE}>${sequence}\0`;
const end = `\0${NONCE}\0`;

/**
 * Reads `text` in chunks of `size` while job 1 is the current one, then ends the jobs in turn.
 * @returns their logs
 */
function readLogs(text: string, size: number, jobs = 3): string[] {
  const output = new ChildOutput();
  output.nonce = NONCE;
  const logs = Array.from({ length: jobs }, () => "");
  const begin = (job: number) =>
    output.begin({ onLog: (some) => (logs[job] += some), onStream: () => {}, max_bytes: 1_000 }, job + 1);
  begin(0);
  const bytes = new TextEncoder().encode(text);
  for (let at = 0; at < bytes.length; at += size) output.push(1, bytes.subarray(at, at + size));
  output.end();
  for (let job = 1; job < jobs; job++) {
    begin(job);
    output.end();
  }
  return logs;
}

test.each([
  ["of the next one", `one${announce(2)}two`, ["one", "two", ""]],
  ["of the one after the next", `one${announce(3)}three`, ["one", "", "three"]],
  ["of two", `one${end}${announce(2)}two${end}${announce(3)}three${end}`, ["one", "two", "three"]],
  ["of the current one", `${announce(1)}one`, ["one", "", ""]],
  ["that only looks like an announcement", `one \0${NONCE.slice(0, 3)} more`, ["one \ufffdn0n more", "", ""]],
])("%s", (_, text, logs) => {
  for (const size of [1, 2, 7, 1_000]) expect(readLogs(text, size)).toEqual(logs);
});
