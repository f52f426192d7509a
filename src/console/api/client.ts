/** Query cache with its default options. */
import { QueryClient } from "@tanstack/react-query";
import { onReturn } from "./connection.ts";
import { mayPass } from "./errors.ts";

export const queryClient = new QueryClient({
  defaultOptions: {
    queries: {
      retry: (failures, error) => failures < 2 && mayPass(error),
      staleTime: 5_000,
      networkMode: "always",
    },
    mutations: { retry: false, networkMode: "always" },
  },
});

onReturn(() => void queryClient.invalidateQueries());
