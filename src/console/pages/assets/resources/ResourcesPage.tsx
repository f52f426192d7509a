import { Button } from "@mantine/core";
import { IconPlus } from "@tabler/icons-react";
import { useQuery } from "@tanstack/react-query";
import { Link } from "wouter";
import { useMay } from "../../../api/session.ts";
import { PageHead } from "../../../parts/PageHead.tsx";
import { to, useWorkspace } from "../../../parts/places.ts";
import { useTabs } from "../../../parts/TabBar.tsx";
import { Connect } from "./Connect.tsx";
import { resourceList } from "./queries.ts";
import { Resources } from "./Resources.tsx";
import { Types } from "./Types.tsx";

export default function ResourcesPage() {
  const workspace = useWorkspace();
  const may = useMay(workspace)("POST /w/{workspace}/resources/create", "author");
  const list = useQuery(resourceList(workspace));
  const [tab, bar] = useTabs([
    { value: "resources", label: "Resources" },
    { value: "types", label: "Types" },
  ]);
  return (
    <div className="page">
      <PageHead title="Resources" about="Databases, accounts and services, kept once and used by their path.">
        {may && tab === "resources" && (
          <>
            <Connect workspace={workspace} />
            {(list.data?.length ?? 0) > 0 && (
              <Button component={Link} href={to.newResource(workspace)} leftSection={<IconPlus size={16} />}>
                New resource
              </Button>
            )}
          </>
        )}
      </PageHead>
      {bar}
      {tab === "types" ? <Types workspace={workspace} /> : <Resources workspace={workspace} />}
    </div>
  );
}
