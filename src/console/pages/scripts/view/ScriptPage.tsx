import { Anchor, Badge, Button } from "@mantine/core";
import { IconPencil, IconPlayerPlay } from "@tabler/icons-react";
import { useQuery } from "@tanstack/react-query";
import { Link, useLocation, useParams } from "wouter";
import { callOperation } from "../../../api/call.ts";
import { useMayWrite } from "../../../api/item-rights.ts";
import { useMay } from "../../../api/session.ts";
import { useConfirmation } from "../../../parts/elements/actions.tsx";
import { Loading } from "../../../parts/elements/Loading.tsx";
import { PageHead } from "../../../parts/elements/PageHead.tsx";
import { Problem } from "../../../parts/elements/Problem.tsx";
import { RowMenu } from "../../../parts/elements/RowMenu.tsx";
import { useTabs } from "../../../parts/elements/TabBar.tsx";
import { Access } from "../../../parts/items/access/Access.tsx";
import { getLanguageLabel } from "../../../parts/items/languages.ts";
import { scriptQuery } from "../../../parts/items/scripts.ts";
import { linkTo, useWorkspace } from "../../../parts/navigation/places.ts";
import { ScriptCode } from "./ScriptCode.tsx";
import { ScriptSettings } from "./ScriptSettings.tsx";
import { Triggers } from "./Triggers.tsx";
import { Versions } from "./Versions.tsx";
import { Webhooks } from "./Webhooks.tsx";

export default function ScriptPage() {
  const workspace = useWorkspace();
  const { "*": path = "" } = useParams<{ "*": string }>();
  const found = useQuery(scriptQuery(workspace, path));
  const isAuthor = useMay(workspace)("POST /w/{workspace}/scripts/create", "author");
  const mayWrite = useMayWrite(workspace)(path, found.data?.extra_perms) && isAuthor;
  const [, go] = useLocation();
  const { ask, dialog } = useConfirmation();
  const [tab, bar] = useTabs([
    { value: "code", label: "Code" },
    { value: "versions", label: "Versions" },
    { value: "webhooks", label: "Webhooks" },
    { value: "triggers", label: "Triggers" },
    { value: "settings", label: "Settings" },
    { value: "access", label: "Access" },
  ]);
  const archive = () =>
    ask({
      title: `Archive ${path}?`,
      text: "It can no longer be run, and its schedules and routes fail. Its versions and runs are kept.",
      label: "Archive",
      action: async () => {
        await callOperation("POST /w/{workspace}/scripts/archive/p/{path}", { workspace, path });
        go(linkTo.home(workspace));
        return `${path} is archived`;
      },
    });
  const script = found.data;
  return (
    <div className="page">
      <PageHead
        title={script?.summary || path}
        above={
          <Anchor component={Link} href={linkTo.home(workspace)} fz="sm">
            Home
          </Anchor>
        }
        about={
          <>
            <span className="mono">{path}</span>{" "}
            {script && <Badge variant="default">{getLanguageLabel(script.language)}</Badge>}
            {script?.description && <div>{script.description}</div>}
          </>
        }
      >
        {script && (
          <>
            <Button
              component={Link}
              href={linkTo.begin(workspace, "script", path)}
              leftSection={<IconPlayerPlay size={16} />}
            >
              Run
            </Button>
            {mayWrite && (
              <Button
                variant="default"
                component={Link}
                href={linkTo.editScript(workspace, path)}
                leftSection={<IconPencil size={16} />}
              >
                Edit
              </Button>
            )}
            <Button variant="default" component={Link} href={linkTo.runs(workspace, { path })}>
              Runs
            </Button>
            <RowMenu
              of={path}
              entries={[mayWrite && { label: "Archive", onClick: archive, isDangerous: true }]}
            />
          </>
        )}
      </PageHead>
      {bar}
      {found.error && <Problem error={found.error} retry={() => void found.refetch()} />}
      {found.isPending && <Loading />}
      {script && (
        <>
          {tab === "code" && <ScriptCode workspace={workspace} script={script} />}
          {tab === "versions" && <Versions workspace={workspace} script={script} mayWrite={mayWrite} />}
          {tab === "webhooks" && (
            <Webhooks workspace={workspace} kind="script" path={path} mayWrite={mayWrite} />
          )}
          {tab === "triggers" && <Triggers workspace={workspace} kind="script" path={path} />}
          {tab === "access" && <Access workspace={workspace} kind="script" path={path} />}
          {tab === "settings" && (
            <ScriptSettings key={path} workspace={workspace} script={script} mayWrite={mayWrite} />
          )}
        </>
      )}
      {dialog}
    </div>
  );
}
