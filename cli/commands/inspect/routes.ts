import { createCommand, formatExamples } from "../../program/command.ts";
import { printJson, printNote, printTable } from "../../terminal/text/output.ts";

export default createCommand("routes", "list the routes of the HTTP interface", "nothing")
  .argument("[text]", "part of a path or name, or the URL of a request")
  .addHelpText(
    "after",
    formatExamples("svc routes scripts/list", "svc routes /api/w/acme/scripts/get/p/f/shop/order"),
  )
  .action(listRoutes);

interface Route {
  method: string;
  path: string;
  access: string;
  name: string;
  file: string;
}

/** Prints the operations whose path or name contains the text; if there are none, those that serve it as a URL. */
export async function listRoutes(text = "", options: { json?: boolean }): Promise<void> {
  const all = await readRoutes();
  const wanted = text.toLowerCase();
  const named = all.filter(
    (route) => route.path.toLowerCase().includes(wanted) || route.name.toLowerCase().includes(wanted),
  );
  const routes = named.length > 0 ? named : await findServing(all, text);
  if (options.json) return printJson(routes);
  if (routes.length === 0) printNote(`no operation has a path or name with "${text}", or serves it as a URL`);
  await printTable(routes, [
    { title: "METHOD", value: (route) => route.method },
    { title: "PATH", value: (route) => route.path },
    { title: "ACCESS", value: (route) => route.access },
    { title: "FILE", value: (route) => route.file, cut: "start", minor: true },
  ]);
}

async function readRoutes(): Promise<Route[]> {
  const { operationsByFile } = await import("../../../src/server/features.ts");
  const { getBasePath } = await import("../../../src/platform/http/operation.ts");
  return [...operationsByFile].flatMap(([file, operations]) =>
    operations.map((op) => ({
      method: op.method,
      path: getBasePath(op) + op.path,
      access: op.access,
      name: op.name,
      file,
    })),
  );
}

/** Finds the routes that serve a URL, by the rules of the server; one for each method. */
async function findServing(routes: Route[], url: string): Promise<Route[]> {
  const { addRoute, createRouter, findRoute } = await import("rou3");
  const { toRouterPath } = await import("../../../src/platform/http/unknown-routes.ts");
  const router = createRouter<Route>();
  for (const route of routes) addRoute(router, route.method, toRouterPath(route.path), route);
  const pathname = URL.parse(url, "http://localhost")?.pathname ?? url;
  const methods = [...new Set(routes.map((route) => route.method))];
  return methods.flatMap((method) => findRoute(router, method, pathname)?.data ?? []);
}
