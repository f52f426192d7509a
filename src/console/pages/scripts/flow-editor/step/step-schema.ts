/** The input schema of a step's script or flow. */
import { useQuery } from "@tanstack/react-query";
import { type Fields, isRecord } from "../../../../api/json.ts";
import { useAnalysis } from "../../../../parts/editor/analysis.ts";
import type { Language } from "../../../../parts/items/languages.ts";
import { runnableQuery } from "../../../../parts/items/runnables.ts";
import type { RunnableKind } from "../../../../parts/navigation/places.ts";
import { useEditorContext } from "../context.ts";
import type { PlacedStep } from "../model/steps.ts";

const text = (value: unknown): string => (typeof value === "string" ? value : "");

/** Analyses the code of a step on the server. */
export function useCodeAnalysis({ step }: PlacedStep) {
  const { workspace } = useEditorContext();
  const value = isRecord(step.value) ? step.value : {};
  const isCode = value.type === "rawscript";
  const language = (isCode ? text(value.language) : "bun") as Language;
  const found = useAnalysis(workspace, language, isCode ? text(value.content) : "");
  return isCode ? found : undefined;
}

/** Loads the input schema of a step; undefined until it is loaded. */
export function useStepSchema(placed: PlacedStep): Fields | undefined {
  const { workspace } = useEditorContext();
  const analysis = useCodeAnalysis(placed);
  const value = isRecord(placed.step.value) ? placed.step.value : {};
  const isPath = (value.type === "script" || value.type === "flow") && text(value.path) !== "";
  const found = useQuery({
    ...runnableQuery(
      workspace,
      (isPath ? value.type : "script") as RunnableKind,
      text(value.path),
      value.type === "script" ? text(value.hash) : "",
    ),
    enabled: isPath,
    retry: false,
  });
  const schema = value.type === "rawscript" ? analysis?.schema : found.data?.schema;
  return isRecord(schema) ? schema : undefined;
}
