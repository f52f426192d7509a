/** Queries for the scripts, flows and apps of a workspace. */
import { queryOptions } from "@tanstack/react-query";
import { call } from "../api/call.ts";

/** What one request lists at most. */
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

export const scriptList = (workspace: string) =>
  queryOptions({
    queryKey: [workspace, "scripts", "list"],
    queryFn: ({ signal }) =>
      readAll((query) => call("GET /w/{workspace}/scripts/list", { workspace, query }, signal)),
  });

export const flowList = (workspace: string) =>
  queryOptions({
    queryKey: [workspace, "flows", "list"],
    queryFn: ({ signal }) =>
      readAll((paging) =>
        call(
          "GET /w/{workspace}/flows/list",
          { workspace, query: { ...paging, without_description: true } },
          signal,
        ),
      ),
  });

export const appList = (workspace: string) =>
  queryOptions({
    queryKey: [workspace, "apps", "list"],
    queryFn: ({ signal }) =>
      readAll((query) => call("GET /w/{workspace}/apps/list", { workspace, query }, signal)),
  });
