/** Formats a flow as a Mermaid flowchart. */

import type { FlowModule, FlowValue } from "../../../src/engines/flow-engine/types.ts";
import { listBodies } from "../../../src/features/runs/flows/modules.ts";
import { formatStepTitle, listBranchNames } from "./flow-tree.ts";

/** An arrow to the next node. */
interface OpenArrow {
  from: string;
  label?: string | undefined;
}

export function formatMermaid(
  path: string,
  { modules, failure_module, preprocessor_module }: FlowValue,
): string {
  const lines = ["flowchart TD"];
  let nodes = 0;

  /** Generated names, because ids of steps may be keywords of Mermaid. */
  const node = (text: string, [open, close]: readonly [string, string]): string => {
    const name = `n${nodes++}`;
    lines.push(`  ${name}${open}"${escapeText(text)}"${close}`);
    return name;
  };
  const lead = (exits: readonly OpenArrow[], to: string) => {
    for (const { from, label } of exits) {
      lines.push(`  ${from} -->${label === undefined ? "" : `|"${escapeText(label)}"|`} ${to}`);
    }
  };
  const list = (steps: readonly FlowModule[], exits: OpenArrow[]): OpenArrow[] =>
    steps.reduce((before, step) => draw(step, before), exits);

  function draw(module: FlowModule, exits: OpenArrow[]): OpenArrow[] {
    const name = node(`${module.id}: ${formatStepTitle(module)}`, nodeShape(module));
    lead(exits, name);
    const bodies = listBodies(module);
    if (bodies.length === 0) return [{ from: name }];
    const names = listBranchNames(module);
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

function nodeShape({ value }: FlowModule): readonly [string, string] {
  if (value.type === "branchone") return ["{", "}"];
  return value.type === "branchall" || value.type.endsWith("loopflow") ? ["[[", "]]"] : ["[", "]"];
}

/** Escapes quoted text; Mermaid writes characters as `#…;`. */
function escapeText(text: string): string {
  return text.replace(/[#"<>&]/g, (character) => `#${character.charCodeAt(0)};`);
}
