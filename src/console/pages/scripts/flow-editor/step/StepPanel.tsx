/** Panel of the selected step: its code or path, inputs and options. */
import { Alert, Group, SegmentedControl, Text, TextInput, Title } from "@mantine/core";
import { Fragment, useEffect, useState } from "react";
import { type Fields, isRecord } from "../../../../api/json.ts";
import { Iterations } from "../../../../parts/flow/Iterations.tsx";
import { useEditorContext } from "../context.ts";
import type { FlowProblem } from "../model/check.ts";
import { setStepField } from "../model/commands.ts";
import { type Path, setValueAt } from "../model/document.ts";
import { RESERVED } from "../model/ids.ts";
import { listSteps, type PlacedStep } from "../model/steps.ts";
import { Branches } from "./Branches.tsx";
import { CodePart } from "./CodePart.tsx";
import { Inputs } from "./Inputs.tsx";
import { Iterator } from "./Iterator.tsx";
import { Options } from "./Options.tsx";
import { listNonOptionFields, listShownFields, listStepOptions } from "./option-fields.ts";
import { PathPart } from "./PathPart.tsx";
import { Rest } from "./Rest.tsx";
import { StepResult } from "./StepResult.tsx";
import { StepTry } from "./StepTry.tsx";

export type Part = "runs" | "inputs" | "options" | "try" | "result";

const RUNS = new Set(["rawscript", "script", "flow"]);

interface Props {
  placed: PlacedStep;
  problems: FlowProblem[];
  /** The tab that is shown, if the step has it. */
  part: Part;
  setPart: (part: Part) => void;
}

export function StepPanel({ placed, problems, part: wanted, setPart }: Props) {
  const { editor } = useEditorContext();
  const { key, step } = placed;
  const value = isRecord(step.value) ? step.value : {};
  const type = String(value.type ?? "");
  const parts = [
    { value: "runs", label: "Step" },
    ...(RUNS.has(type) ? [{ value: "inputs", label: "Inputs" }] : []),
    { value: "options", label: "Options" },
    ...(RUNS.has(type) ? [{ value: "try", label: "Try" }] : []),
    { value: "result", label: "Result" },
  ];
  const part = parts.some((each) => each.value === wanted) ? wanted : "runs";
  const set = (path: Path, next: unknown, label: string) =>
    editor.edit(label, (flow) => setStepField(flow, key, path, next), `${key}/${path.join("/")}`);
  const title = typeof step.summary === "string" && step.summary !== "" ? step.summary : placed.id || type;
  const sections = listStepOptions(type);
  return (
    <section className="stack" aria-label={`Step ${title}`}>
      <Title order={2} className="wrap">
        {title}
      </Title>
      {problems.map(({ message }) => (
        <Alert key={message} color="yellow" variant="light">
          {message}
        </Alert>
      ))}
      <div className="line">
        <TextInput
          label="Summary"
          style={{ flex: "1 1 12rem" }}
          value={typeof step.summary === "string" ? step.summary : ""}
          onChange={(event) => set(["summary"], event.currentTarget.value || undefined, "Summary")}
        />
        <IdInput key={editor.panel} placed={placed} />
      </div>
      <ShownIterations placed={placed} />
      <SegmentedControl
        aria-label="Part of the step"
        data={parts}
        value={part}
        onChange={(next) => setPart(next as Part)}
      />
      {/* Nothing of another step stays in the fields. The switch above stays: measuring it takes a while. */}
      <Fragment key={editor.panel}>
        {part === "runs" && <Runs type={type} placed={placed} set={set} />}
        {part === "inputs" && <Inputs placed={placed} />}
        {part === "try" && <StepTry placed={placed} />}
        {part === "result" && <StepResult placed={placed} />}
        {part === "options" && (
          <Options
            of={key}
            value={step}
            sections={sections}
            set={set}
            rest={
              <Rest
                value={step}
                shown={listShownFields(sections, listNonOptionFields(type))}
                change={(next) => editor.edit("Other fields", (flow) => setValueAt(flow, placed.path, next))}
              />
            }
          />
        )}
      </Fragment>
    </section>
  );
}

/** Selects the iterations of the surrounding loops, and of the step itself, whose values are shown. */
function ShownIterations({ placed }: { placed: PlacedStep }) {
  const { editor, run, pick } = useEditorContext();
  const steps = listSteps(editor.flow);
  const loops = [...placed.around, placed.key].flatMap((key) => {
    const loop = steps.find((each) => each.key === key);
    const ran = loop && run?.loops.get(loop.id);
    return ran && ran.iterations.length > 1 ? [{ id: loop.id, ...ran }] : [];
  });
  return loops.map(({ id, iterations, picked }) => (
    <Group key={id} gap="xs">
      <Text fz="sm">Values of the iteration of {id}</Text>
      <Iterations of={id} iterations={iterations} picked={picked} pick={(index) => pick(id, index)} />
    </Group>
  ));
}

/**
 * The id changes when the field loses the focus; otherwise each letter would rewrite the expressions that refer to the
 * step.
 */
function IdInput({ placed }: { placed: PlacedStep }) {
  const { editor } = useEditorContext();
  const [text, setText] = useState(placed.id);
  useEffect(() => setText(placed.id), [placed.id]);
  const taken =
    text !== placed.id && listSteps(editor.flow).some(({ id }) => id === text)
      ? `Another step has the id ${text}`
      : text !== placed.id && RESERVED.includes(text)
        ? `${text} is a reserved id`
        : undefined;
  const isFixed = typeof placed.path.at(-1) !== "number";
  return (
    <TextInput
      label="Id"
      w={110}
      disabled={isFixed}
      value={text}
      error={taken}
      onChange={(event) => setText(event.currentTarget.value.trim())}
      onKeyDown={(event) => event.key === "Enter" && event.currentTarget.blur()}
      onBlur={() => {
        if (taken || text === "" || text === placed.id) return setText(placed.id);
        editor.rename(placed.key, text);
      }}
    />
  );
}

interface RunsProps {
  type: string;
  placed: PlacedStep;
  set: (path: Path, next: unknown, label: string) => void;
}

function Runs({ type, placed, set }: RunsProps) {
  const value = placed.step.value as Fields;
  switch (type) {
    case "rawscript":
      return <CodePart placed={placed} />;
    case "script":
    case "flow":
      return <PathPart placed={placed} />;
    case "forloopflow":
      return <Iterator placed={placed} set={set} />;
    case "whileloopflow":
      return (
        <p className="quiet">
          It repeats its steps until one of them ends early (see the options of that step). Steps can read the
          number of the iteration as flow_input.iter.index.
        </p>
      );
    case "branchone":
    case "branchall":
      return <Branches placed={placed} />;
    case "identity":
      return (
        <p className="quiet">
          It passes on the result of the previous step. Its options can add a wait or an approval.
        </p>
      );
    default:
      return <Rest value={value} shown={new Set()} change={(next) => set(["value"], next, "Value")} />;
  }
}
