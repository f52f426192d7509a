import { Alert, Button, Group, Text, TextInput } from "@mantine/core";
import { useState } from "react";
import { useLocation } from "wouter";
import { queryClient } from "../../../api/client.ts";
import { ApiError } from "../../../api/errors.ts";
import type { Script } from "../../../api/interface.d.ts";
import { reloadAfterChange } from "../../../api/reload.ts";
import { CodeDifference } from "../../../parts/editor/lazy.tsx";
import { FormDialog } from "../../../parts/elements/actions.tsx";
import { type NewScript, scriptQuery } from "../../../parts/items/scripts.ts";
import { linkTo } from "../../../parts/navigation/places.ts";

interface Props {
  workspace: string;
  path: string;
  isNew: boolean;
  /** The edited version; undefined for a new script, and for a draft that does not contain it. */
  base: string | undefined;
  /** Returns the edited code with the settings of a newer version, or of the edited one. */
  scriptOver: (newer?: Script) => NewScript;
  deploy: (body: NewScript) => Promise<void>;
  close: () => void;
}

/**
 * Dialog that deploys with a message. If another user has deployed in between, it shows that version instead of
 * overwriting it.
 */
export function Deploy({ workspace, path, isNew, base, scriptOver, deploy, close }: Props) {
  const [message, setMessage] = useState("");
  const [parent, setParent] = useState(base);
  const [theirs, setTheirs] = useState<Script>();
  const [, go] = useLocation();
  const isSeen = theirs !== undefined && parent === theirs.hash;
  // Settings that another user changed in the meantime are kept.
  const script = scriptOver(theirs);
  const action = async () => {
    const deployment_message = message.trim();
    try {
      await deploy({
        ...script,
        parent_hash: parent ?? null,
        ...(deployment_message ? { deployment_message } : {}),
      });
    } catch (error) {
      const newest = await findNewer(error);
      if (!newest) throw error;
      setTheirs(newest);
      throw new Error(explain(newest));
    }
    await reloadAfterChange(queryClient);
    go(linkTo.script(workspace, path));
    return `${path} is deployed`;
  };
  const explain = ({ created_by }: Script): string => {
    if (isNew && parent === undefined)
      return `There is a script at ${path} already, by ${created_by}. Take another name, or look at it first.`;
    if (parent === undefined)
      return "The draft does not say from which version it was begun. Look at what is deployed first.";
    return `${created_by} deployed another version meanwhile. Yours is kept; look at theirs first.`;
  };
  /** Returns the newer version if the deployment was rejected because of it. */
  const findNewer = async (error: unknown): Promise<Script | undefined> => {
    if (!(error instanceof ApiError) || error.status !== 400) return undefined;
    const newest = await queryClient
      .fetchQuery({ ...scriptQuery(workspace, path), staleTime: 0 })
      .catch(() => undefined);
    return newest && !newest.draft_only && newest.hash !== parent ? newest : undefined;
  };
  return (
    <FormDialog
      title={`Deploy ${path}`}
      opened
      close={close}
      action={action}
      label={isSeen ? "Deploy mine over it" : "Deploy"}
      isDangerous={isSeen}
      isReady={theirs === undefined || isSeen}
      size={theirs ? "xl" : "md"}
    >
      <TextInput
        data-autofocus
        label="What changed"
        description="Shown in the history of versions"
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
                <Text>
                  Changes of their code that yours does not contain would be lost. Their settings are kept.
                </Text>
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
