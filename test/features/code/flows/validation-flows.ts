/** Short constructors of flows and steps to validate. */

export const script = {
  type: "rawscript",
  language: "bun",
  content: "export const main = () => 1",
  input_transforms: {},
};
export const step = (id: string, more: object = {}) => ({ id, value: script, ...more });
export const scriptStep = (id: string, more: object) => ({ id, value: { ...script, ...more } });
export const exprStep = (id: string, expr: string) =>
  scriptStep(id, { input_transforms: { x: { type: "javascript", expr } } });
export const flow = (path: string) => ({ type: "flow", path, input_transforms: {} });
const iterator = { type: "javascript", expr: "[1]" };
export const loop = (id: string, modules: unknown[], more: object = {}) => ({
  id,
  value: { type: "forloopflow", iterator, skip_failures: false, modules, ...more },
});
export const nestedLoop = (depth: number): object =>
  depth === 1 ? step("s1") : loop(`s${depth}`, [nestedLoop(depth - 1)]);
export const steps = (count: number) => Array.from({ length: count }, (_, index) => step(`s${index}`));
