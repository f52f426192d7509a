import { useQuery } from "@tanstack/react-query";
import { flowsQuery, scriptsQuery } from "../items/lists.ts";

/** Lists the scripts and flows that can handle failures, in the form of settings and schedules: `script/f/ops/tell`. */
export function useHandlerChoices(workspace: string): string[] {
  const scripts = useQuery(scriptsQuery(workspace)).data ?? [];
  const flows = useQuery(flowsQuery(workspace)).data ?? [];
  return [...scripts.map(({ path }) => `script/${path}`), ...flows.map(({ path }) => `flow/${path}`)];
}
