import { call } from "../../api/call.ts";
import { useAction } from "../actions.tsx";

/** Returns a function that asks the provider for a new token of the account behind a resource or variable. */
export function useRefreshToken(workspace: string): (path: string, account: number) => void {
  const { act } = useAction();
  return (path, account) =>
    act(async () => {
      await call("POST /w/{workspace}/oauth/refresh_token/{id}", {
        workspace,
        id: String(account),
        body: { path },
      });
      return "The token is refreshed";
    });
}
