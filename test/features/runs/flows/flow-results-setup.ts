/** A server that streams, flows of a few steps, and their results. */
import { afterAll, beforeAll } from "bun:test";
import { expectOk } from "../../../support/harness.ts";
import { type Streaming, startStreaming } from "../../../support/streaming.ts";

export let on: Streaming;

export const jobs = "/w/acme/jobs";
export const js = (expr: string) => ({ type: "javascript", expr });
export const script = (id: string, content: string, inputs: object = {}) => ({
  id,
  value: { type: "rawscript", language: "bun", content, input_transforms: inputs },
});

let count = 0;
export async function push(modules: object[], more: object = {}): Promise<string> {
  const path = `u/admin/flow_${++count}`;
  await expectOk(on.ask("POST", "/w/acme/flows/create", { path, summary: "", value: { modules, ...more } }));
  return path;
}
export const start = async (path: string, args: object = {}) =>
  (await expectOk(on.ask("POST", `${jobs}/run/f/${path}`, args))).text;
export async function runFlow(modules: object[], args: object = {}, more: object = {}): Promise<any> {
  return on.completed(await start(await push(modules, more), args));
}

export const loop = (id: string, modules: object[], more: object = {}) => ({
  id,
  value: { type: "forloopflow", iterator: js("flow_input.items"), skip_failures: false, modules, ...more },
});

/** Starts a server before the tests of a file, and stops it after them. */
export function setUpResults(): void {
  beforeAll(async () => {
    on = await startStreaming();
  });
  afterAll(() => on.stop());
}
