import { queryOptions } from "@tanstack/react-query";
import { type Answer, call } from "../../../api/call.ts";

export type Token = Answer<"GET /users/tokens/list">[number];

/** Tokens of the user, without browser sessions. */
export const tokenList = queryOptions({
  queryKey: ["tokens", "list"],
  queryFn: ({ signal }) =>
    call("GET /users/tokens/list", { query: { per_page: 1_000, exclude_ephemeral: true } }, signal),
});

export const scopeList = queryOptions({
  queryKey: ["tokens", "scopes"],
  queryFn: ({ signal }) => call("GET /tokens/list/scopes", {}, signal),
  staleTime: Number.POSITIVE_INFINITY,
});
