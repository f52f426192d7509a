/** Loads a script or flow for a form of its arguments. */
import { queryOptions } from "@tanstack/react-query";
import { callOperation } from "../../api/call.ts";
import type { Script } from "../../api/interface.d.ts";
import type { RunnableKind } from "../navigation/places.ts";

/** Fields of a script or flow that forms use. */
export interface Runnable {
  path: string;
  summary: string;
  description: string;
  schema: unknown;
  /** How requests to its webhooks must be signed; undefined: they need no signature. */
  signature: Script["signature"] | undefined;
}

/**
 * Loads a script or flow with the schema of its arguments.
 * @param hash of a version of a script; empty: the newest one
 */
export const runnableQuery = (workspace: string, kind: RunnableKind, path: string, hash = "") =>
  queryOptions({
    queryKey: [workspace, `${kind}s`, "form", path, hash],
    queryFn: async ({ signal }): Promise<Runnable> => {
      const found =
        kind === "script" && hash !== ""
          ? await callOperation("GET /w/{workspace}/scripts/get/h/{hash}", { workspace, hash }, signal)
          : kind === "script"
            ? await callOperation("GET /w/{workspace}/scripts/get/p/{path}", { workspace, path }, signal)
            : await callOperation("GET /w/{workspace}/flows/get/{path}", { workspace, path }, signal);
      const { summary, description, schema } = found;
      const signature = "signature" in found ? (found.signature ?? undefined) : undefined;
      return { path, summary, description: description ?? "", schema, signature };
    },
  });
