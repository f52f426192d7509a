import { Alert, Text, TextInput } from "@mantine/core";
import { useState } from "react";
import { call } from "../../../../api/call.ts";
import { queryClient } from "../../../../api/client.ts";
import { FormDialog } from "../../../../parts/actions.tsx";
import { CodeDifference } from "../../../../parts/editor/lazy.tsx";
import { asYaml, type Flow, oneFlow, toNewFlow } from "../queries.ts";
import type { FlowText } from "./problems.ts";

interface Props {
  workspace: string;
  flow: Flow;
  /** The version that the text was begun from. */
  base: number;
  text: string;
  written: FlowText;
  close: () => void;
  deployed: (newest: Flow) => void;
}

/** Deploys with a message. What somebody else deployed in between is shown, and never overwritten unseen. */
export function DeployFlow({ workspace, flow, base, text, written, close, deployed }: Props) {
  const [message, setMessage] = useState("");
  const [seen, setSeen] = useState(base);
  const [theirs, setTheirs] = useState<Flow>();
  const { path } = flow;
  const action = async () => {
    const newest = await queryClient.fetchQuery({ ...oneFlow(workspace, path), staleTime: 0 });
    if (newest.version_id !== seen) {
      setTheirs(newest);
      setSeen(newest.version_id);
      throw new Error(
        `${newest.edited_by} deployed another version meanwhile. Look at what yours would change in it.`,
      );
    }
    const { value, schema, summary, description } = written;
    const body = {
      ...toNewFlow(newest),
      summary,
      description,
      value: value as Flow["value"],
      schema: schema ?? null,
      deployment_message: message.trim() || null,
      parent_version: newest.version_id,
    };
    await call("POST /w/{workspace}/flows/update/{path}", { workspace, path, body });
    deployed(await queryClient.fetchQuery({ ...oneFlow(workspace, path), staleTime: 0 }));
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
        description="Stands in the history of versions"
        value={message}
        onChange={(event) => setMessage(event.currentTarget.value)}
      />
      <Text>From {theirs ? `the version of ${theirs.edited_by}` : "what is deployed"} to yours:</Text>
      <CodeDifference label="Difference" language="yaml" before={asYaml(theirs ?? flow)} after={text} />
      {theirs && (
        <Alert color="yellow" variant="light">
          What they changed and yours does not have would be gone.
        </Alert>
      )}
    </FormDialog>
  );
}
