import { Alert, Anchor, Text, TextInput } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { toServerPath } from "../../../../api/base.ts";
import { callOperation } from "../../../../api/call.ts";
import { queryClient } from "../../../../api/client.ts";
import { isRecord } from "../../../../api/json.ts";
import { memberQuery } from "../../../../api/session.ts";
import { CodeDifference } from "../../../../parts/editor/lazy.tsx";
import { FormDialog } from "../../../../parts/elements/actions.tsx";
import { linkTo } from "../../../../parts/navigation/places.ts";
import { toDocument } from "../../flow-editor/model/document.ts";
import { flowWithDraftQuery } from "../../flow-editor/queries.ts";
import { type Flow, flowQuery } from "../queries.ts";
import type { FlowText } from "./problems.ts";
import { formatYaml } from "./text.ts";

interface Props {
  workspace: string;
  flow: Flow;
  /** The version that the text is based on. */
  base: number;
  text: string;
  written: FlowText;
  close: () => void;
  deployed: () => void;
}

/**
 * Dialog that deploys with a message. If another user has deployed in between, it shows that version instead of
 * overwriting it.
 */
export function DeployFlow({ workspace, flow, base, text, written, close, deployed }: Props) {
  const [message, setMessage] = useState("");
  const [seen, setSeen] = useState(base);
  const [theirs, setTheirs] = useState<Flow>();
  const { path } = flow;
  const username = useQuery(memberQuery(workspace)).data?.username;
  const drawn = useQuery({ ...flowWithDraftQuery(workspace, path), staleTime: 0 }).data?.draft;
  const action = async () => {
    const newest = await queryClient.fetchQuery({ ...flowQuery(workspace, path), staleTime: 0 });
    if (newest.version_id !== seen) {
      setTheirs(newest);
      setSeen(newest.version_id);
      throw new Error(
        `${newest.edited_by} deployed another version meanwhile. Look at what yours would change in it.`,
      );
    }
    const { value, schema, summary, description } = written;
    const body = {
      ...toDocument(newest),
      summary,
      description,
      value: value as Flow["value"],
      schema: schema ?? null,
      deployment_message: message.trim() || null,
      parent_version: newest.version_id,
    };
    await callOperation("POST /w/{workspace}/flows/update/{path}", { workspace, path, body });
    await queryClient.fetchQuery({ ...flowQuery(workspace, path), staleTime: 0 });
    deployed();
    return `${path} is deployed`;
  };
  return (
    <FormDialog
      title={`Deploy ${path}`}
      opened
      close={close}
      action={action}
      label={theirs ? "Deploy mine over it" : "Deploy"}
      isDangerous={theirs !== undefined}
      size="xl"
    >
      <TextInput
        data-autofocus
        label="What changed"
        description="Shown in the history of versions"
        value={message}
        onChange={(event) => setMessage(event.currentTarget.value)}
      />
      <Text>From {theirs ? `the version of ${theirs.edited_by}` : "what is deployed"} to yours:</Text>
      <CodeDifference label="Difference" language="yaml" before={formatYaml(theirs ?? flow)} after={text} />
      {isRecord(drawn) && username && (
        <Alert color="yellow" variant="light">
          You have a draft of this flow whose changes are not deployed. This deployment deletes them.{" "}
          <Anchor
            href={toServerPath(linkTo.review(workspace, path, username))}
            target="_blank"
            inherit
            underline="always"
          >
            Look at them
          </Anchor>
        </Alert>
      )}
      {theirs && (
        <Alert color="yellow" variant="light">
          Their changes that yours does not contain would be lost.
        </Alert>
      )}
    </FormDialog>
  );
}
