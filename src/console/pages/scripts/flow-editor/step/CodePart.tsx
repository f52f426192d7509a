/** Editor for the code of an inline script. */
import { NativeSelect, Text } from "@mantine/core";
import type { Fields } from "../../../../api/json.ts";
import { getInitialCode } from "../../../../parts/editor/initial-code.ts";
import { Code } from "../../../../parts/editor/lazy.tsx";
import { LANGUAGES, type Language } from "../../../../parts/items/languages.ts";
import { useEditorContext } from "../context.ts";
import { setStepField } from "../model/commands.ts";
import type { PlacedStep } from "../model/steps.ts";
import { useCodeAnalysis } from "./step-schema.ts";

export function CodePart({ placed }: { placed: PlacedStep }) {
  const { editor } = useEditorContext();
  const analysis = useCodeAnalysis(placed);
  const { content, language } = placed.step.value as Fields;
  const isListed = LANGUAGES.some(({ value }) => value === language);
  const problem = analysis?.problem;
  /** Changed code may need other packages, so the lock of the old code is removed. */
  const set = (changes: Fields, label: string) =>
    editor.edit(
      label,
      (flow) => {
        const { lock: _lock, ...value } = placed.step.value as Fields;
        return setStepField(flow, placed.key, ["value"], { ...value, ...changes });
      },
      `${placed.key}/${label}`,
    );
  return (
    <>
      <NativeSelect
        label="Language"
        w={220}
        data={isListed ? LANGUAGES : [String(language), ...LANGUAGES]}
        value={String(language)}
        onChange={({ currentTarget: { value: next } }) => {
          const isUntouched =
            content === getInitialCode(language as Language) || String(content).trim() === "";
          set(
            { language: next, ...(isUntouched ? { content: getInitialCode(next as Language) } : {}) },
            "Language",
          );
        }}
      />
      <div>
        <Code
          label={`Code of ${placed.id}`}
          language={String(language)}
          value={typeof content === "string" ? content : ""}
          change={(text) => set({ content: text }, "Code")}
          problem={problem}
        />
        <Text mt="xs" fz="xs" c={problem ? "var(--bad)" : "dimmed"} role={problem ? "alert" : undefined}>
          {problem
            ? `${problem.line === undefined ? "" : `Line ${problem.line}: `}${problem.message}`
            : analysis && analysis.packages.length > 0
              ? `Packages: ${analysis.packages.join(", ")}`
              : analysis?.warning}
        </Text>
      </div>
    </>
  );
}
