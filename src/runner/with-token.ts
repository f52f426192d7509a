import type { Child } from "./child.ts";
import type { RunRequest } from "./types.ts";

/** Arguments as the child gets them: where its own token is asked for, the token. */
export function withToken(
  { args, token_placeholder }: Pick<RunRequest, "args" | "token_placeholder">,
  child: Child,
): string {
  return token_placeholder ? args.replaceAll(token_placeholder, child.token!.value) : args;
}
