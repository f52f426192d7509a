import { Button, Group, Text } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { call } from "../../../api/call.ts";
import type { Script } from "../../../api/interface.d.ts";
import { useAction } from "../../../parts/actions.tsx";
import { DataTable } from "../../../parts/DataTable.tsx";
import { CodeDifference } from "../../../parts/editor/lazy.tsx";
import { Loading } from "../../../parts/Loading.tsx";
import { Problem } from "../../../parts/Problem.tsx";
import { scriptVersion, toNewScript } from "../../../parts/scripts.ts";

interface Props {
  workspace: string;
  script: Script;
  mayWrite: boolean;
}

/** All versions, newest first. The selected one is compared with the deployed one. */
export function Versions({ workspace, script, mayWrite }: Props) {
  const { path } = script;
  const history = useQuery({
    queryKey: [workspace, "scripts", "history", path],
    queryFn: ({ signal }) => call("GET /w/{workspace}/scripts/history/p/{path}", { workspace, path }, signal),
  });
  const [shown, setShown] = useState<string>();
  const { act, isPending } = useAction();
  if (history.error) return <Problem error={history.error} retry={() => void history.refetch()} />;
  if (!history.data) return <Loading />;
  const restore = (old: Script) =>
    act(async () => {
      await call("POST /w/{workspace}/scripts/create", {
        workspace,
        body: {
          ...toNewScript(old),
          parent_hash: script.hash,
          deployment_message: `Restore version ${old.hash}`,
        },
      });
      setShown(undefined);
      return `${path} is as it was in version ${old.hash}`;
    });
  return (
    <>
      <DataTable
        label="Versions"
        rows={history.data}
        keyOf={({ script_hash }) => script_hash}
        columns={[
          {
            name: "Version",
            width: "12rem",
            cell: ({ script_hash }) => <span className="mono">{script_hash}</span>,
          },
          {
            name: "Message",
            width: "minmax(0, 1fr)",
            cell: ({ deployment_msg }) => deployment_msg ?? <span className="quiet">none</span>,
          },
          {
            name: "",
            width: "8rem",
            cell: ({ script_hash }) =>
              script_hash === script.hash ? (
                <span className="quiet">deployed</span>
              ) : (
                <Button
                  size="xs"
                  variant={shown === script_hash ? "light" : "default"}
                  aria-label={`Compare version ${script_hash}`}
                  onClick={() => setShown(shown === script_hash ? undefined : script_hash)}
                >
                  Compare
                </Button>
              ),
          },
        ]}
      />
      {shown && (
        <Comparison
          workspace={workspace}
          hash={shown}
          script={script}
          {...(mayWrite ? { restore } : {})}
          isPending={isPending}
        />
      )}
    </>
  );
}

interface ComparisonProps {
  workspace: string;
  hash: string;
  script: Script;
  restore?: (old: Script) => void;
  isPending: boolean;
}

function Comparison({ workspace, hash, script, restore, isPending }: ComparisonProps) {
  const old = useQuery(scriptVersion(workspace, hash));
  if (old.error) return <Problem error={old.error} />;
  if (!old.data) return <Loading rows={3} />;
  return (
    <section aria-label="Comparison" className="comparison">
      <Group justify="space-between" mb="xs">
        <Text c="dimmed">What changed from version {hash} to the deployed one</Text>
        {restore && (
          <Button variant="default" loading={isPending} onClick={() => restore(old.data)}>
            Go back to version {hash}
          </Button>
        )}
      </Group>
      {old.data.content === script.content ? (
        <Text c="dimmed">The code is the same; settings or packages differ.</Text>
      ) : (
        <CodeDifference
          label="Difference"
          language={script.language}
          before={old.data.content}
          after={script.content}
        />
      )}
    </section>
  );
}
