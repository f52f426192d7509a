import { useMay } from "../../../api/session.ts";
import { PageHead } from "../../../parts/elements/PageHead.tsx";
import { type TabChoice, useTabs } from "../../../parts/elements/TabBar.tsx";
import { Accounts } from "./Accounts.tsx";
import { Alerts } from "./Alerts.tsx";
import { Backup } from "./Backup.tsx";
import { Health } from "./Health.tsx";
import { License } from "./License.tsx";
import { Mail } from "./Mail.tsx";
import { Settings } from "./Settings.tsx";
import { Workers } from "./Workers.tsx";
import { Workspaces } from "./Workspaces.tsx";

type Tab =
  | "health"
  | "workers"
  | "alerts"
  | "settings"
  | "mail"
  | "backup"
  | "accounts"
  | "workspaces"
  | "license";

/** Page for super admins, and read-only for devops. */
export default function InstancePage() {
  const may = useMay();
  const forSuperAdmins: TabChoice<Tab>[] = [
    { value: "accounts", label: "Accounts" },
    { value: "workspaces", label: "Workspaces" },
    { value: "license", label: "License" },
  ];
  const [tab, bar] = useTabs<Tab>([
    { value: "health", label: "Health" },
    { value: "workers", label: "Workers" },
    { value: "alerts", label: "Alerts" },
    { value: "settings", label: "Settings" },
    { value: "mail", label: "Mail and sign-in" },
    { value: "backup", label: "Backup" },
    ...(may("GET /users/list_as_super_admin", "superAdmin") ? forSuperAdmins : []),
  ]);
  return (
    <div className="page">
      <PageHead title="Instance" about="Accounts, settings and health of this server, for all workspaces." />
      {bar}
      {tab === "health" && <Health />}
      {tab === "workers" && <Workers />}
      {tab === "alerts" && <Alerts />}
      {tab === "settings" && <Settings />}
      {tab === "mail" && <Mail />}
      {tab === "backup" && <Backup />}
      {tab === "accounts" && <Accounts />}
      {tab === "workspaces" && <Workspaces />}
      {tab === "license" && <License />}
    </div>
  );
}
