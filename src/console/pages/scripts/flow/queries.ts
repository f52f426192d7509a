import { queryOptions } from "@tanstack/react-query";
import { stringify } from "yaml";
import { type Answer, call, type Input } from "../../../api/call.ts";

export type Flow = Answer<"GET /w/{workspace}/flows/get/{path}">;

export const oneFlow = (workspace: string, path: string) =>
  queryOptions({
    queryKey: [workspace, "flows", "one", path],
    queryFn: ({ signal }) => call("GET /w/{workspace}/flows/get/{path}", { workspace, path }, signal),
  });

export const flowHistory = (workspace: string, path: string) =>
  queryOptions({
    queryKey: [workspace, "flows", "history", path],
    queryFn: ({ signal }) => call("GET /w/{workspace}/flows/history/p/{path}", { workspace, path }, signal),
  });

/** A version of a flow never changes. */
export const flowVersion = (workspace: string, path: string, version: number | undefined) =>
  queryOptions({
    queryKey: [workspace, "flows", "version-of", path, version],
    queryFn: ({ signal }) =>
      call(
        "GET /w/{workspace}/flows/get/v/{version}/p/{path}",
        { workspace, path, version: String(version) },
        signal,
      ),
    enabled: version !== undefined,
    staleTime: Number.POSITIVE_INFINITY,
  });

/** The parts of a flow that a deployment changes, as the command line tool keeps them in a file. */
export const asYaml = ({ summary, description, value, schema }: Flow): string =>
  stringify({ summary, description: description ?? "", value, schema }, { lineWidth: 0 });

type NewFlow = Input<"POST /w/{workspace}/flows/update/{path}">["body"];

/** What is stored of a flow, as it is sent with its next version. */
export function toNewFlow(flow: Flow): NewFlow {
  const { path, summary, description, value, schema, tag, priority, timeout, on_behalf_of_email } = flow;
  const { ws_error_handler_muted, dedicated_worker, visible_to_runner_only } = flow;
  const flags = { ws_error_handler_muted, dedicated_worker, visible_to_runner_only };
  const options = { tag: tag ?? null, priority: priority ?? null, timeout: timeout ?? null };
  return {
    ...flags,
    ...options,
    path,
    summary,
    description: description ?? "",
    value,
    schema: schema as NewFlow["schema"],
    on_behalf_of_email: on_behalf_of_email ?? null,
  };
}
