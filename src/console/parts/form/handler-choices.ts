import { useQuery } from "@tanstack/react-query";
import { flowList, scriptList } from "../lists.ts";

/** Returns what can be called when something fails, as settings and schedules name it: `script/f/ops/tell`. */
export function useHandlerChoices(workspace: string): string[] {
  const scripts = useQuery(scriptList(workspace)).data ?? [];
  const flows = useQuery(flowList(workspace)).data ?? [];
  return [...scripts.map(({ path }) => `script/${path}`), ...flows.map(({ path }) => `flow/${path}`)];
}
