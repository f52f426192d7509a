/** Computed values of an app's components, and what is shown in place of one. */
import { Alert, Text } from "@mantine/core";
import { computeInput, NotEvaluated, type Scope } from "./evaluate.ts";
import { useApp } from "./use-app.ts";

/**
 * Returns the value of an option or input, or a text saying that it cannot be evaluated here.
 * @param names further values that expressions can refer to
 */
export function useValue(input: unknown, names?: Scope): { value?: unknown; note?: string } {
  const { scope } = useApp();
  try {
    return { value: computeInput(input, names ? { ...scope, ...names } : scope) };
  } catch (error) {
    if (!(error instanceof NotEvaluated)) throw error;
    return { note: `It is computed by code that this page does not run: ${error.message}` };
  }
}

export const Note = ({ children }: { children: string }) => (
  <Text c="dimmed" fz="sm" className="wrap">
    {children}
  </Text>
);

export const Failure = ({ message }: { message: string }) => (
  <Alert color="red" variant="light">
    {message}
  </Alert>
);
