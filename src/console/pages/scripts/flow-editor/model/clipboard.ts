/** Converts steps to text and back, to copy them between flows and workspaces. */
import { stringify } from "yaml";
import { type Fields, isRecord } from "../../../../api/json.ts";
import { parseYaml } from "../../../../api/yaml.ts";

export const toClipboard = (steps: Fields[]): string => stringify(steps, { lineWidth: 0 });

/** Parses steps from YAML or JSON: a list of steps, one step, or a flow. @returns undefined for text without steps */
export function parseSteps(text: string): Fields[] | undefined {
  let found: unknown;
  try {
    found = parseYaml(text);
  } catch {
    return undefined;
  }
  const flow =
    isRecord(found) && isRecord(found.value) && Array.isArray(found.value.modules) ? found.value : found;
  const steps = isRecord(flow) && Array.isArray(flow.modules) ? flow.modules : [flow].flat();
  const isStep = (step: unknown): step is Fields =>
    isRecord(step) && isRecord(step.value) && typeof step.value.type === "string";
  return steps.length > 0 && steps.every(isStep) ? steps : undefined;
}
