import type { Extra, Move } from "./state.ts";
import type { InputTransform, InputTransforms } from "./types.ts";

/** A transform's value. @throws what its expression throws */
export async function transformed(
  move: Move,
  transform: InputTransform | number,
  extra: Extra,
): Promise<unknown> {
  if (typeof transform === "number") return transform;
  return transform.type === "static" ? transform.value : move.env.evaluate(transform.expr, extra);
}

/** A step's arguments. @throws Error that names the argument */
export async function argsOf(
  move: Move,
  transforms: InputTransforms,
  extra: Extra,
): Promise<Record<string, unknown>> {
  const args: Record<string, unknown> = {};
  for (const [name, transform] of Object.entries(transforms)) {
    args[name] = await named(`input ${name}`, () => transformed(move, transform, extra));
  }
  return args;
}

/** Says of an error which field it comes from. */
export async function named<T>(field: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (cause) {
    const { name, message } = cause as Error;
    throw fault(name, `${field}: ${message}`);
  }
}

export function fault(name: string, message: string): Error {
  return Object.assign(new Error(message), { name });
}
