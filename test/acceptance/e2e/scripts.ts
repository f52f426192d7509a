/** Deploying and running scripts on a server that was started from the executable. */
import type { Serving } from "./executable.ts";

export interface ScriptClient {
  /** Stores a script at u/ann/<name>. */
  deploy: (name: string, content: string, more?: object) => Promise<void>;
  /** Runs it to its end. @returns its result, which may be an error's object */
  run: <T>(name: string, args?: object, query?: string) => Promise<T>;
  /** Paths are below /api/w/acme. */
  ask: (method: string, path: string, body?: unknown) => Promise<{ status: number; text: string }>;
  /** A new number for each call. */
  count: () => number;
}

export function clientOf({ url }: Serving, token: string): ScriptClient {
  const headers = { authorization: `Bearer ${token}` };
  let counted = 0;
  const ask: ScriptClient["ask"] = async (method, path, body) => {
    const init: RequestInit = { method, headers };
    if (body !== undefined) init.body = typeof body === "string" ? body : JSON.stringify(body);
    const answer = await fetch(`${url}/api/w/acme${path}`, init);
    return { status: answer.status, text: await answer.text() };
  };
  return {
    ask,
    count: () => ++counted,
    async deploy(name, content, more = {}) {
      const body = { path: `u/ann/${name}`, language: "bun", content, ...more };
      const { status, text } = await ask("POST", "/scripts/create", body);
      if (status !== 201) throw new Error(`${name}: ${status} ${text}`);
    },
    async run(name, args = {}, query = "") {
      const { text } = await ask("POST", `/jobs/run_wait_result/p/u/ann/${name}${query}`, args);
      return JSON.parse(text);
    },
  };
}
