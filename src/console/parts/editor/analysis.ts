import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { callOperation } from "../../api/call.ts";
import type { Language } from "../items/languages.ts";
import { useDebounced } from "./debounce.ts";

/** Analyses the code on the server: its arguments, its packages, or its syntax error. */
export function useAnalysis(workspace: string, language: Language, content: string) {
  const quiet = useDebounced(content);
  return useQuery({
    queryKey: [workspace, "scripts", "analysis", language, quiet],
    queryFn: ({ signal }) =>
      callOperation(
        "POST /w/{workspace}/scripts/analyse",
        { workspace, body: { language, content: quiet } },
        signal,
      ),
    placeholderData: keepPreviousData,
    gcTime: 0,
    staleTime: Number.POSITIVE_INFINITY,
  }).data;
}
