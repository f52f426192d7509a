import { type ReactNode, useState } from "react";
import { callOperation } from "../../../api/call.ts";
import { useMayWrite } from "../../../api/item-rights.ts";
import { useConfirmation } from "../../../parts/elements/actions.tsx";
import type { MenuEntry } from "../../../parts/elements/RowMenu.tsx";
import { AccessDialog } from "../../../parts/items/access/Access.tsx";
import { useRefreshToken } from "../../../parts/items/refresh-token.ts";
import { Uses } from "../../../parts/items/Uses.tsx";
import type { ListedResource } from "./queries.ts";

type Shown = Pick<ListedResource, "path" | "extra_perms"> & Partial<Pick<ListedResource, "account">>;

interface ResourceMenu {
  /** Returns the actions that the caller may perform on a resource. */
  listMenuEntries: (resource: Shown) => (MenuEntry | false)[];
  dialogs: ReactNode;
}

/** Provides the menu of a resource and its dialogs. @param leave called before a resource is deleted */
export function useResourceMenu(workspace: string, leave?: () => void): ResourceMenu {
  const mayWrite = useMayWrite(workspace);
  const [used, setUsed] = useState<string>();
  const [asked, setAsked] = useState<string>();
  const refresh = useRefreshToken(workspace);
  const { ask, dialog } = useConfirmation();
  const remove = (path: string) =>
    ask({
      title: `Delete ${path}?`,
      text: "Scripts and flows that use it will fail. Its secrets are kept as variables.",
      label: "Delete",
      action: async () => {
        await callOperation("DELETE /w/{workspace}/resources/delete/{path}", { workspace, path });
        leave?.();
        return `${path} is deleted`;
      },
    });
  const disconnect = ({ path, account }: Shown) =>
    ask({
      title: `Disconnect ${path}?`,
      text: "The account is disconnected here and at the provider. Its token is no longer refreshed.",
      label: "Disconnect",
      action: () =>
        callOperation("POST /w/{workspace}/oauth/disconnect/{id}", { workspace, id: String(account) }),
    });
  const listMenuEntries = (resource: Shown) => {
    const { path, account, extra_perms } = resource;
    const writes = mayWrite(path, extra_perms);
    const hasAccount = typeof account === "number";
    return [
      { label: "Where it is used", onClick: () => setUsed(path) },
      { label: "Who may use it", onClick: () => setAsked(path) },
      hasAccount && { label: "Refresh the token", onClick: () => refresh(path, account) },
      hasAccount && writes && { label: "Disconnect", onClick: () => disconnect(resource) },
      writes && { label: "Delete", onClick: () => remove(path), isDangerous: true },
    ];
  };
  const dialogs = (
    <>
      <AccessDialog workspace={workspace} kind="resource" path={asked} close={() => setAsked(undefined)} />
      <Uses workspace={workspace} path={used} close={() => setUsed(undefined)} />
      {dialog}
    </>
  );
  return { listMenuEntries, dialogs };
}
