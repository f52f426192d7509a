import { Alert, Button, Group, Text, TextInput } from "@mantine/core";
import { useState } from "react";
import { useLocation } from "wouter";
import { call } from "../../../api/call.ts";
import { queryClient } from "../../../api/client.ts";
import { ApiError } from "../../../api/errors.ts";
import type { Script } from "../../../api/interface.d.ts";
import { FormDialog } from "../../../parts/actions.tsx";
import { CodeDifference } from "../../../parts/editor/lazy.tsx";
import { to } from "../../../parts/places.ts";
import { type NewScript, scriptAt } from "../../../parts/scripts.ts";

interface Props {
  workspace: string;
  /** Without its parent. */
  script: NewScript;
  /** The version that was edited; absent for a new script. */
  base?: string;
  close: () => void;
  onDeployed: () => void;
}

/** Deploys with a message. What somebody else deployed in between is shown, and never overwritten unseen. */
export function Deploy({ workspace, script, base, close, onDeployed }: Props) {
  const [message, setMessage] = useState("");
  const [parent, setParent] = useState(base);
  const [theirs, setTheirs] = useState<Script>();
  const [, go] = useLocation();
  const deploy = async () => {
    const body = {
      ...script,
      ...(parent === undefined ? {} : { parent_hash: parent }),
      ...(message.trim() ? { deployment_message: message.trim() } : {}),
    };
    try {
      await call("POST /w/{workspace}/scripts/create", { workspace, body });
    } catch (error) {
      const newest = await findNewer(error);
      if (!newest) throw error;
      setTheirs(newest);
      throw new Error(
        `${newest.created_by} deployed another version meanwhile. Yours is kept; look at theirs first.`,
      );
    }
    onDeployed();
    await queryClient.invalidateQueries({ queryKey: [workspace] });
    go(to.script(workspace, script.path));
    return `${script.path} is deployed`;
  };
  /** The version that stands in the way, if that is why it was refused. */
  const findNewer = async (error: unknown): Promise<Script | undefined> => {
    if (!(error instanceof ApiError) || error.status !== 400) return undefined;
    const newest = await queryClient
      .fetchQuery({ ...scriptAt(workspace, script.path), staleTime: 0 })
      .catch(() => undefined);
    return newest && newest.hash !== parent ? newest : undefined;
  };
  const isSeen = theirs !== undefined && parent === theirs.hash;
  return (
    <FormDialog
      title={`Deploy ${script.path}`}
      opened
      close={close}
      action={deploy}
      label={isSeen ? "Deploy mine over it" : "Deploy"}
      isDangerous={isSeen}
      isReady={theirs === undefined || isSeen}
      size={theirs ? "xl" : "md"}
    >
      <TextInput
        data-autofocus
        label="What changed"
        description="Stands in the history of versions"
        value={message}
        onChange={(event) => setMessage(event.currentTarget.value)}
      />
      {theirs && (
        <>
          <Text>From the version of {theirs.created_by} to yours:</Text>
          <CodeDifference
            label="Difference"
            language={theirs.language}
            before={theirs.content}
            after={script.content}
          />
          {!isSeen && (
            <Alert color="yellow" variant="light">
              <Group justify="space-between">
                <Text>What they changed and yours does not have would be gone.</Text>
                <Button variant="default" size="xs" onClick={() => setParent(theirs.hash)}>
                  I have seen it
                </Button>
              </Group>
            </Alert>
          )}
        </>
      )}
    </FormDialog>
  );
}
