import { Anchor, Button, TextInput } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { Link, useLocation } from "wouter";
import { callOperation } from "../../../api/call.ts";
import { myWorkspacesQuery, removeMyWorkspace, renameMyWorkspace, useMay } from "../../../api/session.ts";
import { useConfirmation } from "../../../parts/elements/actions.tsx";
import { linkTo } from "../../../parts/navigation/places.ts";
import { forgetLastWorkspace } from "../../../shell/last-workspace.ts";
import type { WorkspaceSettings } from "./queries.ts";
import { Section } from "./Section.tsx";

export interface SectionProps {
  workspace: string;
  settings: WorkspaceSettings;
  isAdmin: boolean;
}

export function GeneralSections({ workspace, settings, isAdmin }: SectionProps) {
  const known = useQuery(myWorkspacesQuery).data?.workspaces.find(({ id }) => id === workspace)?.name ?? "";
  const [name, setName] = useState<string>();
  const [id, setId] = useState(workspace);
  const [webhook, setWebhook] = useState(settings.webhook ?? "");
  const [, go] = useLocation();
  const { ask, dialog } = useConfirmation();
  const may = useMay(workspace);
  const title = name ?? known;
  const goElsewhere = () => {
    removeMyWorkspace(workspace);
    forgetLastWorkspace();
    go("/workspaces");
  };
  const leave = () =>
    ask({
      title: `Leave ${workspace}?`,
      text: "You can return only if somebody invites you again. Your items are kept.",
      label: "Leave",
      action: async () => {
        await callOperation("POST /w/{workspace}/workspaces/leave", { workspace });
        goElsewhere();
        return undefined;
      },
    });
  const archive = () =>
    ask({
      title: `Archive ${workspace}?`,
      text: "Nobody can open it and nothing runs in it, not even schedules and routes, until a super admin restores it.",
      label: "Archive",
      name: workspace,
      action: async () => {
        await callOperation("POST /w/{workspace}/workspaces/archive", { workspace });
        goElsewhere();
        return `${workspace} is archived`;
      },
    });
  return (
    <>
      {isAdmin && (
        <Section
          title="Name"
          about="Shown in the console."
          isChanged={title.trim() !== "" && title !== known}
          save={async () => {
            const body = { new_name: title.trim() };
            await callOperation("POST /w/{workspace}/workspaces/change_workspace_name", { workspace, body });
            return "The name is changed";
          }}
        >
          <TextInput
            aria-label="Name"
            value={title}
            onChange={(event) => setName(event.currentTarget.value)}
          />
        </Section>
      )}
      {isAdmin && (
        <Section
          title="Id"
          about="The id is part of every webhook address: if you change it, tell everybody who calls a webhook."
          isChanged={id !== workspace && id !== ""}
          label="Change the id"
          save={async () => {
            const body = { new_id: id };
            await callOperation("POST /w/{workspace}/workspaces/change_workspace_id", { workspace, body });
            renameMyWorkspace(workspace, id);
            go(linkTo.home(id));
            return `The workspace id is ${id} now`;
          }}
        >
          <TextInput
            aria-label="Id"
            value={id}
            onChange={(event) => setId(event.currentTarget.value.trim())}
          />
        </Section>
      )}
      <Section
        title="Workspace webhook"
        about={
          <>
            Called whenever a script, flow, variable or other item of this workspace is created, changed or
            deleted.
            {isAdmin && (
              <>
                {" "}
                For several endpoints, signed requests and a record of deliveries, see{" "}
                <Anchor component={Link} href={linkTo.webhooks(workspace)} inherit underline="always">
                  Outgoing webhooks
                </Anchor>
                .
              </>
            )}
          </>
        }
        isChanged={webhook !== (settings.webhook ?? "")}
        {...(isAdmin
          ? {
              save: async () => {
                const body = { webhook: webhook.trim() || null };
                await callOperation("POST /w/{workspace}/workspaces/edit_webhook", { workspace, body });
                return webhook.trim() ? "The webhook is saved" : "The webhook is removed";
              },
            }
          : {})}
      >
        <TextInput
          aria-label="Workspace webhook"
          type="url"
          placeholder="https://…"
          readOnly={!isAdmin}
          value={webhook}
          onChange={(event) => setWebhook(event.currentTarget.value)}
        />
      </Section>
      <Section title="Leave" about="Your membership ends; your items are kept.">
        <div>
          <Button variant="default" onClick={leave}>
            Leave this workspace
          </Button>
        </div>
      </Section>
      {may("POST /w/{workspace}/workspaces/archive", "admin") && (
        <Section title="Archive" about="For a workspace that is no longer used. Nothing is deleted.">
          <div>
            <Button variant="default" color="red" onClick={archive}>
              Archive this workspace
            </Button>
          </div>
        </Section>
      )}
      {dialog}
    </>
  );
}
