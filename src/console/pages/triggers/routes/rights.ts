import { useQuery } from "@tanstack/react-query";
import type { HttpTrigger } from "../../../api/interface.d.ts";
import { useMayWrite } from "../../../api/item-rights.ts";
import { whoamiQuery } from "../../../api/session.ts";

/** Whether the user may create routes of the whole instance, directly below `/api/r/`: only super admins may. */
export const useMayCreateRootRoutes = (): boolean => useQuery(whoamiQuery).data?.super_admin ?? false;

/** Returns a check whether the member may change and enable a route. */
export function useMayChangeRoute(workspace: string): (route: HttpTrigger) => boolean {
  const mayWrite = useMayWrite(workspace);
  const mayCreateRootRoute = useMayCreateRootRoutes();
  return ({ path, extra_perms, workspaced_route }) =>
    mayWrite(path, extra_perms) && (workspaced_route || mayCreateRootRoute);
}
