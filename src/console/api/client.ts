/** Query cache with its default options. */
import { QueryClient } from "@tanstack/react-query";
import { onReconnect } from "./connection.ts";
import { isRetryable } from "./errors.ts";

export const queryClient = new QueryClient({
  defaultOptions: {
    queries: {
      retry: (failures, error) => failures < 2 && isRetryable(error),
      staleTime: 5_000,
      networkMode: "always",
    },
    mutations: { retry: false, networkMode: "always" },
  },
});

onReconnect(() => void queryClient.invalidateQueries());
