import { useQuery } from "@tanstack/react-query";
import { useMay } from "../../../api/session.ts";
import { Loading } from "../../../parts/elements/Loading.tsx";
import { PageHead } from "../../../parts/elements/PageHead.tsx";
import { Problem } from "../../../parts/elements/Problem.tsx";
import { useTabs } from "../../../parts/elements/TabBar.tsx";
import { useWorkspace } from "../../../parts/navigation/places.ts";
import { EnvironmentSection } from "./EnvironmentSection.tsx";
import { ErrorHandlerSection } from "./ErrorHandlerSection.tsx";
import { GeneralSections } from "./GeneralSections.tsx";
import { GitSection } from "./GitSection.tsx";
import { KeySection } from "./KeySection.tsx";
import { workspaceSettingsQuery } from "./queries.ts";
import { ScheduleHandlersSection } from "./ScheduleHandlersSection.tsx";
import { StorageSection } from "./StorageSection.tsx";
import { Usage } from "./Usage.tsx";

export default function SettingsPage() {
  const workspace = useWorkspace();
  // Forms start with the currently stored values, not with cached ones from an earlier visit.
  const settings = useQuery({ ...workspaceSettingsQuery(workspace), refetchOnMount: "always" });
  const isRead = settings.data !== undefined && settings.isFetchedAfterMount;
  const isAdmin = useMay(workspace)("POST /w/{workspace}/workspaces/edit_error_handler", "admin");
  const [tab, bar] = useTabs([
    { value: "general", label: "General" },
    { value: "runs", label: "Runs" },
    { value: "secrets", label: "Secrets and files" },
    { value: "git", label: "Git" },
    { value: "usage", label: "Usage" },
  ]);
  const shown = { workspace, settings: settings.data!, isAdmin };
  return (
    <div className="page">
      <PageHead
        title="Settings"
        about={
          isAdmin ? "Settings of this workspace." : "Settings of this workspace. Its admins can change them."
        }
      />
      {bar}
      {settings.error && <Problem error={settings.error} retry={() => void settings.refetch()} />}
      {!isRead && !settings.error && <Loading />}
      {isRead && (
        <>
          {tab === "general" && <GeneralSections {...shown} />}
          {tab === "runs" && (
            <>
              <ErrorHandlerSection {...shown} />
              {isAdmin && <ScheduleHandlersSection {...shown} />}
              {isAdmin && <EnvironmentSection workspace={workspace} />}
            </>
          )}
          {tab === "secrets" && (
            <>
              <StorageSection {...shown} />
              {isAdmin && <KeySection workspace={workspace} />}
            </>
          )}
          {tab === "git" && <GitSection {...shown} />}
          {tab === "usage" && <Usage workspace={workspace} />}
        </>
      )}
    </div>
  );
}
