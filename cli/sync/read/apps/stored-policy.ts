/**
 * Existing clients store the policy of an app in the app's file only when the app is deployed from its editor, and
 * compute it from the code on each push. Here too, a component whose code has changed since then may run its new code.
 */
import type { Fields } from "../items.ts";

interface Component {
  id: string;
  code: string;
  /** The kind of each input, by name. */
  inputs: Fields;
}

const isObject = (value: unknown): value is Fields =>
  typeof value === "object" && value !== null && !Array.isArray(value);
const toObjects = (value: unknown): Fields[] => (Array.isArray(value) ? value.filter(isObject) : []);

/** Lists the components that run code of their own on the server, not in the browser. */
function listComponents(value: Fields): Component[] {
  const grids = [value.grid, ...Object.values(isObject(value.subgrids) ? value.subgrids : {})];
  const shown = grids.flatMap(toObjects).map(({ data }) => {
    const { id, componentInput: input } = isObject(data) ? data : {};
    return isObject(input) ? { id, runnable: input.runnable, fields: input.fields } : {};
  });
  const hidden = toObjects(value.hiddenInlineScripts).map((runnable, index) => ({
    id: `bg_${index}`,
    runnable,
    fields: runnable.fields,
  }));
  return [...shown, ...hidden].flatMap(({ id, runnable, fields }) => {
    const script = isObject(runnable) ? runnable.inlineScript : undefined;
    if (!isObject(script) || typeof script.content !== "string" || script.language === "frontend") return [];
    return [{ id: String(id), code: script.content, inputs: isObject(fields) ? fields : {} }];
  });
}

const hashCode = (code: string): string => new Bun.CryptoHasher("sha256").update(code).digest("hex");

const fixedInputs = (inputs: Fields): Fields =>
  Object.fromEntries(
    Object.entries(inputs).flatMap(([name, each]) =>
      isObject(each) && each.type === "static" ? [[name, each.value]] : [],
    ),
  );

/**
 * Updates the policy of an app to the current code of its components.
 * @returns the policy that allows each component to run its current code, with its current fixed inputs
 */
export function completePolicy(value: unknown, policy: Fields): Fields {
  const form = isObject(policy.triggerables_v2) ? "triggerables_v2" : "triggerables";
  if (!isObject(value) || !isObject(policy[form])) return policy;
  const allowed: Fields = { ...policy[form] };
  for (const { id, code, inputs } of listComponents(value)) {
    const runnable = `rawscript/${hashCode(code)}`;
    const key = `${id}:${runnable}`;
    const olds = Object.keys(allowed).filter((each) => each.startsWith(`${id}:rawscript/`));
    const before = allowed[key] ?? allowed[olds[0] ?? ""];
    // Other entries of it, and those without a component, would allow other inputs.
    for (const each of [...olds, runnable]) delete allowed[each];
    allowed[key] =
      form === "triggerables"
        ? fixedInputs(inputs)
        : updateTriggerable(isObject(before) ? before : {}, inputs);
  }
  return { ...policy, [form]: allowed };
}

/** Viewers may only choose, and refer to their resources in, inputs that are not fixed. */
function updateTriggerable(
  { one_of_inputs, allow_user_resources, ...others }: Fields,
  inputs: Fields,
): Fields {
  const static_inputs = fixedInputs(inputs);
  const choices = Object.entries(isObject(one_of_inputs) ? one_of_inputs : {});
  const resources = Array.isArray(allow_user_resources) ? allow_user_resources : [];
  return {
    ...others,
    static_inputs,
    one_of_inputs: Object.fromEntries(choices.filter(([name]) => !Object.hasOwn(static_inputs, name))),
    allow_user_resources: resources.filter(
      (name) => Object.hasOwn(inputs, name) && !Object.hasOwn(static_inputs, name),
    ),
  };
}
