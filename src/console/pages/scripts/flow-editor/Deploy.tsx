/**
 * Dialog that deploys with a message and shows the changes. If another user has deployed in between, it shows that
 * version instead of overwriting it.
 */
import { Alert, Button, Checkbox, Group, Text, TextInput } from "@mantine/core";
import { useState } from "react";
import { useLocation } from "wouter";
import { queryClient } from "../../../api/client.ts";
import { ApiError } from "../../../api/errors.ts";
import type { Job } from "../../../api/interface.d.ts";
import { reloadAfterChange } from "../../../api/reload.ts";
import { FormDialog, focusAtOnce } from "../../../parts/elements/actions.tsx";
import { linkTo } from "../../../parts/navigation/places.ts";
import { Changes } from "./Changes.tsx";
import type { FlowProblem } from "./model/check.ts";
import type { FlowDocument } from "./model/document.ts";
import { toDocument } from "./model/document.ts";
import { deployFlow, flowWithDraftQuery, restartFromStep } from "./queries.ts";

interface Props {
  workspace: string;
  flow: FlowDocument;
  /** The deployed version when the editor was opened. */
  deployed: FlowDocument | undefined;
  base: number | undefined;
  problems: FlowProblem[];
  /** The failed run that is shown, and the step that it can be restarted from. */
  failed: { job: Job; step: string } | undefined;
  /** Runs the action that ends the draft. */
  end: (action: () => Promise<void>) => Promise<void>;
  close: () => void;
}

interface Theirs {
  flow: FlowDocument;
  version: number;
  by: string;
}

export function Deploy({ workspace, flow, deployed, base, problems, failed, end, close }: Props) {
  const [message, setMessage] = useState("");
  const [parent, setParent] = useState(base);
  const [theirs, setTheirs] = useState<Theirs>();
  const [isAgain, setAgain] = useState(false);
  const [, go] = useLocation();
  const isSeen = theirs !== undefined && parent === theirs.version;
  const action = async () => {
    try {
      await end(() => deployFlow(workspace, flow, { parent, message: message.trim() }));
    } catch (error) {
      const newest = await findNewer(error);
      if (!newest) throw error;
      setTheirs(newest);
      throw new Error(
        parent === undefined
          ? `There is a flow at ${flow.path} already, by ${newest.by}. Look at it first, or take another name.`
          : `${newest.by} deployed another version meanwhile. Yours is kept; look at theirs first.`,
      );
    }
    const again = isAgain && failed ? await restartFromStep(workspace, flow, failed) : undefined;
    await reloadAfterChange(queryClient);
    go(again === undefined ? linkTo.flow(workspace, flow.path) : linkTo.run(workspace, again));
    return `${flow.path} is deployed`;
  };
  const findNewer = async (error: unknown): Promise<Theirs | undefined> => {
    if (!(error instanceof ApiError) || error.status !== 400) return undefined;
    const found = await queryClient
      .fetchQuery({ ...flowWithDraftQuery(workspace, flow.path), staleTime: 0 })
      .catch(() => null);
    if (!found || found.draft_only || found.version_id === parent) return undefined;
    return { flow: toDocument(found), version: found.version_id, by: found.edited_by };
  };
  const before = theirs?.flow ?? deployed;
  return (
    <FormDialog
      title={`Deploy ${flow.path}`}
      opened
      close={close}
      action={action}
      label={isSeen ? "Deploy mine over it" : "Deploy"}
      isDangerous={isSeen}
      isReady={theirs === undefined || isSeen}
      size="xl"
    >
      <TextInput
        data-autofocus
        ref={focusAtOnce}
        label="What changed"
        description="Shown in the history of versions"
        value={message}
        onChange={(event) => setMessage(event.currentTarget.value)}
      />
      {failed && (
        <Checkbox
          label={`Then run the failed run again, from step ${failed.step}`}
          checked={isAgain}
          onChange={(event) => setAgain(event.currentTarget.checked)}
        />
      )}
      {problems.length > 0 && (
        <Alert color="yellow" variant="light" title="The flow is not complete">
          {problems.map(({ key, message: text }) => (
            <div key={`${key} ${text}`}>
              {key}: {text}
            </div>
          ))}
        </Alert>
      )}
      {before && (
        <>
          <Text>
            {theirs ? `From the version of ${theirs.by} to yours:` : "From what is deployed to yours:"}
          </Text>
          <Changes before={before} after={flow} />
        </>
      )}
      {theirs && !isSeen && (
        <Alert color="yellow" variant="light">
          <Group justify="space-between">
            <Text>Their changes that yours does not contain would be lost.</Text>
            <Button variant="default" size="xs" onClick={() => setParent(theirs.version)}>
              I have seen it
            </Button>
          </Group>
        </Alert>
      )}
    </FormDialog>
  );
}
