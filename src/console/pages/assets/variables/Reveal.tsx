import { Button, Code, Group, Modal, Text } from "@mantine/core";
import { useEffect, useState } from "react";
import { callOperation } from "../../../api/call.ts";
import { Copy } from "../../../parts/calling/Copy.tsx";
import { Loading } from "../../../parts/elements/Loading.tsx";
import { Problem } from "../../../parts/elements/Problem.tsx";

interface Props {
  workspace: string;
  path: string | undefined;
  close: () => void;
}

/** Shows a secret while the dialog is open, and does not keep it elsewhere. */
export function Reveal({ workspace, path, close }: Props) {
  const [value, setValue] = useState<string>();
  const [error, setError] = useState<unknown>();
  useEffect(() => {
    setValue(undefined);
    setError(undefined);
    if (path === undefined) return;
    const left = new AbortController();
    callOperation("GET /w/{workspace}/variables/get_value/{path}", { workspace, path }, left.signal)
      .then(setValue)
      .catch((cause) => left.signal.aborted || setError(cause));
    return () => left.abort();
  }, [workspace, path]);
  return (
    <Modal opened={path !== undefined} onClose={close} title={`Value of ${path ?? ""}`}>
      <Text c="dimmed" mb="sm">
        Your access is recorded in the audit log.
      </Text>
      {error !== undefined ? (
        <Problem error={error} />
      ) : value === undefined ? (
        <Loading rows={1} />
      ) : (
        <>
          <Code block className="wrap" style={{ whiteSpace: "pre-wrap" }}>
            {value}
          </Code>
          <Group justify="flex-end" mt="md">
            <Copy text={value} />
            <Button onClick={close}>Done</Button>
          </Group>
        </>
      )}
    </Modal>
  );
}
