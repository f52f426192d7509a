import { queryOptions } from "@tanstack/react-query";
import { type Answer, callOperation } from "../../../api/call.ts";

export type Token = Answer<"GET /users/tokens/list">[number];

/** Tokens of the user, without browser sessions. */
export const tokensQuery = queryOptions({
  queryKey: ["tokens", "list"],
  queryFn: ({ signal }) =>
    callOperation("GET /users/tokens/list", { query: { per_page: 1_000, exclude_ephemeral: true } }, signal),
});

export const scopesQuery = queryOptions({
  queryKey: ["tokens", "scopes"],
  queryFn: ({ signal }) => callOperation("GET /tokens/list/scopes", {}, signal),
  staleTime: Number.POSITIVE_INFINITY,
});
