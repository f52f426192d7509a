import { callOperation } from "../../api/call.ts";
import { queryClient } from "../../api/client.ts";
import { useAction } from "../elements/actions.tsx";

/** Returns a function that refreshes the token of the account behind a resource or variable. */
export function useRefreshToken(workspace: string): (path: string, account: number) => void {
  const { act } = useAction();
  return (path, account) =>
    act(async () => {
      const input = { workspace, id: String(account), body: { path } };
      await callOperation("POST /w/{workspace}/oauth/refresh_token/{id}", input).catch((error) => {
        // Lists show the failure.
        void queryClient.invalidateQueries({ queryKey: [workspace] });
        throw error;
      });
      return "The token is refreshed";
    });
}
