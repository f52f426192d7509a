import { createCommand, formatExamples } from "../../program/command.ts";
import { printJson, printNote, printTable } from "../../terminal/text/output.ts";

export default createCommand("routes", "list the routes of the HTTP interface", "nothing")
  .argument("[text]", "only routes whose path or name contains this")
  .addHelpText("after", formatExamples("svc routes scripts/list"))
  .action(listRoutes);

/** Prints the operations whose path or name contains the text. */
export async function listRoutes(text: string | undefined, options: { json?: boolean }): Promise<void> {
  const { operationsByFile } = await import("../../../src/server/features.ts");
  const { getBasePath } = await import("../../../src/platform/http/operation.ts");
  const wanted = (text ?? "").toLowerCase();
  const routes = [...operationsByFile]
    .flatMap(([file, operations]) =>
      operations.map((op) => ({
        method: op.method,
        path: getBasePath(op) + op.path,
        access: op.access,
        name: op.name,
        file,
      })),
    )
    .filter(
      (route) => route.path.toLowerCase().includes(wanted) || route.name.toLowerCase().includes(wanted),
    );
  if (options.json) return printJson(routes);
  if (routes.length === 0) printNote(`no path and no name of an operation holds "${text}"`);
  await printTable(routes, [
    { title: "METHOD", value: (route) => route.method },
    { title: "PATH", value: (route) => route.path },
    { title: "ACCESS", value: (route) => route.access },
    { title: "FILE", value: (route) => route.file, cut: "start", minor: true },
  ]);
}
