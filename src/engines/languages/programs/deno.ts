import { blankComments, type LexicalRules } from "./source-text.ts";
import type { ProgramAdapter } from "./types.ts";

const RULES: LexicalRules = {
  line_comments: ["//"],
  block_comments: [["/*", "*/"]],
  quotes: "\"'`",
  escape: "\\",
};

/** TypeScript that uses Deno's API. It is parsed, and its packages are installed, like all TypeScript. */
export const denoAdapter: ProgramAdapter = {
  extension: "ts",
  tool: "deno",
  install: "install Deno (npm: deno)",
  locate: ["eval", 'console.log(Deno.execPath() + "\\n" + Deno.execPath().replace(/\\/[^\\/]*$/, ""))'],
  parse: () => undefined,
  findPackages: () => [],
  run: {
    wrapper: "run_deno.ts",
    argv: (wrapper, file, parameters) => [
      ...["run", "--allow-all", "--quiet", "--no-prompt", "--no-check", "--no-lock"],
      // Packages are those that were installed beside the script.
      ...["--no-remote", "--node-modules-dir=manual"],
      ...[wrapper, file, JSON.stringify(parameters)],
    ],
    environment: { DENO_NO_UPDATE_CHECK: "1", NO_COLOR: "1" },
  },
};

/** Whether code names the global object of Deno, outside of comments and texts. */
export function usesDeno(content: string): boolean {
  if (!/\bDeno\b/.test(content)) return false;
  const code = blankComments(content, RULES).replace(/"(?:\\.|[^"\\\n])*"?|'(?:\\.|[^'\\\n])*'?/g, '""');
  return /(?<![\w$.])Deno\s*(?:[.[]|\?\.)/.test(code);
}
