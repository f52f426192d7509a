import { PageHead } from "../../../parts/elements/PageHead.tsx";
import { useTabs } from "../../../parts/elements/TabBar.tsx";
import { useWorkspace } from "../../../parts/navigation/places.ts";
import { Folders } from "./Folders.tsx";
import { Groups } from "./Groups.tsx";
import { Members } from "./Members.tsx";

export default function PeoplePage() {
  const workspace = useWorkspace();
  const [tab, bar] = useTabs([
    { value: "members", label: "Members" },
    { value: "groups", label: "Groups" },
    { value: "folders", label: "Folders" },
  ]);
  return (
    <div className="page">
      <PageHead title="People" about="Who belongs to this workspace, and who may see and change what." />
      {bar}
      {tab === "members" && <Members workspace={workspace} />}
      {tab === "groups" && <Groups workspace={workspace} />}
      {tab === "folders" && <Folders workspace={workspace} />}
    </div>
  );
}
