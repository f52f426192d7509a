import { Autocomplete, Checkbox } from "@mantine/core";
import { useState } from "react";
import { callOperation } from "../../../api/call.ts";
import { useHandlerChoices } from "../../../parts/form/handler-choices.ts";
import type { SectionProps } from "./GeneralSections.tsx";
import { Section } from "./Section.tsx";

export function ErrorHandlerSection({ workspace, settings, isAdmin }: SectionProps) {
  const choices = useHandlerChoices(workspace);
  const [path, setPath] = useState(settings.error_handler ?? "");
  const [isMuted, setMuted] = useState(settings.error_handler_muted_on_cancel);
  const save = async () => {
    const body = {
      error_handler: path.trim() || null,
      error_handler_extra_args: settings.error_handler_extra_args,
      error_handler_muted_on_cancel: isMuted,
    };
    await callOperation("POST /w/{workspace}/workspaces/edit_error_handler", { workspace, body });
    return path.trim() ? "The error handler is saved" : "The error handler is removed";
  };
  return (
    <Section
      title="Error handler"
      about="This script or flow is started whenever a run fails, with the error, the id and the path of the run as arguments. It can notify a chat or open a ticket, for example."
      isChanged={
        path !== (settings.error_handler ?? "") || isMuted !== settings.error_handler_muted_on_cancel
      }
      {...(isAdmin ? { save } : {})}
    >
      <Autocomplete
        aria-label="Error handler"
        placeholder="script/f/ops/tell"
        readOnly={!isAdmin}
        data={choices}
        limit={20}
        value={path}
        onChange={setPath}
      />
      <Checkbox
        label="Not for cancelled runs"
        disabled={!isAdmin}
        checked={isMuted}
        onChange={(event) => setMuted(event.currentTarget.checked)}
      />
    </Section>
  );
}
