/** A flow as a Mermaid flowchart. */

import type { FlowModule, FlowValue } from "../../../src/engines/flow-engine/types.ts";
import { bodiesOf } from "../../../src/features/runs/flows/modules.ts";
import { branchNames, titleOf } from "./flow-tree.ts";

/** An arrow that leads to whatever comes next. */
interface Exit {
  from: string;
  label?: string | undefined;
}

export function toMermaid(path: string, { modules, failure_module, preprocessor_module }: FlowValue): string {
  const lines = ["flowchart TD"];
  let nodes = 0;

  /** Names are our own: ids of steps may be words of Mermaid's. */
  const node = (text: string, [open, close]: readonly [string, string]): string => {
    const name = `n${nodes++}`;
    lines.push(`  ${name}${open}"${escaped(text)}"${close}`);
    return name;
  };
  const lead = (exits: readonly Exit[], to: string) => {
    for (const { from, label } of exits) {
      lines.push(`  ${from} -->${label === undefined ? "" : `|"${escaped(label)}"|`} ${to}`);
    }
  };
  const list = (steps: readonly FlowModule[], exits: Exit[]): Exit[] =>
    steps.reduce((before, step) => draw(step, before), exits);

  function draw(module: FlowModule, exits: Exit[]): Exit[] {
    const name = node(`${module.id}: ${titleOf(module)}`, shapeOf(module));
    lead(exits, name);
    const bodies = bodiesOf(module);
    if (bodies.length === 0) return [{ from: name }];
    const names = branchNames(module);
    const ends = bodies.map(({ modules: steps }, index) =>
      list(steps, [{ from: name, label: names[index] }]),
    );
    if (module.value.type.startsWith("branch")) return ends.flat();
    lead(
      ends.flat().filter(({ from }) => from !== name),
      name,
    );
    return [{ from: name }];
  }

  const start = node(path, ["([", "])"]);
  const first = preprocessor_module ? draw(preprocessor_module, [{ from: start }]) : [{ from: start }];
  const last = list(modules, first);
  lead(last, node("end", ["([", "])"]));
  if (failure_module) draw(failure_module, [{ from: start, label: "on failure" }]);
  return lines.join("\n");
}

function shapeOf({ value }: FlowModule): readonly [string, string] {
  if (value.type === "branchone") return ["{", "}"];
  return value.type === "branchall" || value.type.endsWith("loopflow") ? ["[[", "]]"] : ["[", "]"];
}

/** Text in quotes; Mermaid writes characters as `#…;`. */
function escaped(text: string): string {
  return text.replace(/[#"<>&]/g, (character) => `#${character.charCodeAt(0)};`);
}
