import { useState } from "react";
import { RowMenu } from "../../elements/RowMenu.tsx";
import { AccessDialog, type ItemKind } from "./Access.tsx";

interface Props {
  workspace: string;
  kind: ItemKind;
  path: string;
}

/** Menu in the head of an item's page that opens the list of who may use it. */
export function AccessMenu({ workspace, kind, path }: Props) {
  const [isOpen, setOpen] = useState(false);
  return (
    <>
      <RowMenu of={path} entries={[{ label: "Who may use it", onClick: () => setOpen(true) }]} />
      <AccessDialog
        workspace={workspace}
        kind={kind}
        path={isOpen ? path : undefined}
        close={() => setOpen(false)}
      />
    </>
  );
}
