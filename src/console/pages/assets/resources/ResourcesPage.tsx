import { Button } from "@mantine/core";
import { IconPlus } from "@tabler/icons-react";
import { useQuery } from "@tanstack/react-query";
import { Link } from "wouter";
import { useMay } from "../../../api/session.ts";
import { PageHead } from "../../../parts/elements/PageHead.tsx";
import { useTabs } from "../../../parts/elements/TabBar.tsx";
import { linkTo, useWorkspace } from "../../../parts/navigation/places.ts";
import { Connect } from "./Connect.tsx";
import { resourcesQuery } from "./queries.ts";
import { Resources } from "./Resources.tsx";
import { useTypeDialog } from "./TypeDialog.tsx";
import { Types } from "./Types.tsx";

export default function ResourcesPage() {
  const workspace = useWorkspace();
  const mayCall = useMay(workspace);
  const may = mayCall("POST /w/{workspace}/resources/create", "author");
  const mayCreateType = mayCall("POST /w/{workspace}/resources/type/create", "author");
  const { edit, dialog } = useTypeDialog(workspace);
  const list = useQuery(resourcesQuery(workspace));
  const [tab, bar] = useTabs([
    { value: "resources", label: "Resources" },
    { value: "types", label: "Types" },
  ]);
  return (
    <div className="page">
      <PageHead
        title="Resources"
        about="Connection data of databases, accounts and services, which scripts use by path."
      >
        {may && tab === "resources" && (
          <>
            <Connect workspace={workspace} />
            {(list.data?.length ?? 0) > 0 && (
              <Button
                component={Link}
                href={linkTo.newResource(workspace)}
                leftSection={<IconPlus size={16} />}
              >
                New resource
              </Button>
            )}
          </>
        )}
        {mayCreateType && tab === "types" && (
          <Button leftSection={<IconPlus size={16} />} onClick={() => edit(undefined)}>
            New type
          </Button>
        )}
      </PageHead>
      {bar}
      {tab === "types" ? <Types workspace={workspace} edit={edit} /> : <Resources workspace={workspace} />}
      {dialog}
    </div>
  );
}
