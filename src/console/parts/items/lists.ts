/** Queries for the scripts, flows and apps of a workspace. */
import { queryOptions } from "@tanstack/react-query";
import { type Answer, callOperation } from "../../api/call.ts";

/** Maximum number of items in one response. */
const PAGE_SIZE = 1_000;

interface Paging {
  page: number;
  per_page: number;
}

/** Reads page after page, until one is not full. */
export async function readAll<T>(read: (paging: Paging) => Promise<T[]>): Promise<T[]> {
  const all: T[] = [];
  for (let page = 1; ; page++) {
    const rows = await read({ page, per_page: PAGE_SIZE });
    all.push(...rows);
    if (rows.length < PAGE_SIZE) return all;
  }
}

const deployedOnly = <T extends { draft_only: boolean }>(items: T[]): T[] =>
  items.filter(({ draft_only }) => !draft_only);

export const scriptsWithDraftsQuery = (workspace: string) =>
  queryOptions({
    queryKey: [workspace, "scripts", "list"],
    queryFn: ({ signal }) =>
      readAll((paging) =>
        callOperation(
          "GET /w/{workspace}/scripts/list",
          { workspace, query: { ...paging, include_draft_only: true } },
          signal,
        ),
      ),
  });

/** Loads the deployed scripts: those that can be run. */
export const scriptsQuery = (workspace: string) => ({
  ...scriptsWithDraftsQuery(workspace),
  select: deployedOnly<Answer<"GET /w/{workspace}/scripts/list">[number]>,
});

export const flowsWithDraftsQuery = (workspace: string) =>
  queryOptions({
    queryKey: [workspace, "flows", "list"],
    queryFn: ({ signal }) =>
      readAll((paging) =>
        callOperation(
          "GET /w/{workspace}/flows/list",
          { workspace, query: { ...paging, without_description: true, include_draft_only: true } },
          signal,
        ),
      ),
  });

/** Loads the deployed flows: those that can be run. */
export const flowsQuery = (workspace: string) => ({
  ...flowsWithDraftsQuery(workspace),
  select: deployedOnly<Answer<"GET /w/{workspace}/flows/list">[number]>,
});

export const appsQuery = (workspace: string) =>
  queryOptions({
    queryKey: [workspace, "apps", "list"],
    queryFn: ({ signal }) =>
      readAll((query) => callOperation("GET /w/{workspace}/apps/list", { workspace, query }, signal)),
  });
