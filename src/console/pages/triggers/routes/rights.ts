import { useQuery } from "@tanstack/react-query";
import type { HttpTrigger } from "../../../api/interface.d.ts";
import { whoami } from "../../../api/session.ts";
import { useMayWrite } from "../../../parts/items/rights.ts";

/** Only super admins may create routes of the whole instance, directly below `/api/r/`. */
export const useMayCreateRootRoutes = (): boolean => useQuery(whoami).data?.super_admin ?? false;

/** Returns a check whether the member may change and enable a route. */
export function useMayChangeRoute(workspace: string): (route: HttpTrigger) => boolean {
  const mayWrite = useMayWrite(workspace);
  const mayCreateRootRoute = useMayCreateRootRoutes();
  return ({ path, extra_perms, workspaced_route }) =>
    mayWrite(path, extra_perms) && (workspaced_route || mayCreateRootRoute);
}
