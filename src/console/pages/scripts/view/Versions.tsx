import { Button, Group, SegmentedControl, Text } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { callOperation } from "../../../api/call.ts";
import type { Script } from "../../../api/interface.d.ts";
import { Code, CodeDifference } from "../../../parts/editor/lazy.tsx";
import { useAction } from "../../../parts/elements/actions.tsx";
import { DataTable } from "../../../parts/elements/DataTable.tsx";
import { Loading } from "../../../parts/elements/Loading.tsx";
import { Problem } from "../../../parts/elements/Problem.tsx";
import { scriptVersionQuery, toNewScript } from "../../../parts/items/scripts.ts";
import { useUrlParameters } from "../../../parts/navigation/use-url-parameters.ts";

interface Props {
  workspace: string;
  script: Script;
  mayWrite: boolean;
}

/** All versions, newest first. The selected one is shown, and compared with the deployed one. */
export function Versions({ workspace, script, mayWrite }: Props) {
  const { path } = script;
  const history = useQuery({
    queryKey: [workspace, "scripts", "history", path],
    queryFn: ({ signal }) =>
      callOperation("GET /w/{workspace}/scripts/history/p/{path}", { workspace, path }, signal),
  });
  const { get, set } = useUrlParameters();
  const shown = get("version");
  const { act, isPending } = useAction();
  if (history.error) return <Problem error={history.error} retry={() => void history.refetch()} />;
  if (!history.data) return <Loading />;
  const restore = (old: Script) =>
    act(async () => {
      await callOperation("POST /w/{workspace}/scripts/create", {
        workspace,
        body: {
          ...toNewScript(old),
          parent_hash: script.hash,
          deployment_message: `Restore version ${old.hash}`,
        },
      });
      set({ version: "" });
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
                  onClick={() => set({ version: shown === script_hash ? "" : script_hash })}
                >
                  Compare
                </Button>
              ),
          },
        ]}
      />
      {shown !== "" && (
        <Comparison
          key={shown}
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
  const old = useQuery(scriptVersionQuery(workspace, hash));
  const [asCode, setAsCode] = useState(false);
  if (old.error) return <Problem error={old.error} />;
  if (!old.data) return <Loading rows={3} />;
  const isDeployed = hash === script.hash;
  const isSame = old.data.content === script.content;
  const code = (
    <Code label={`Code of version ${hash}`} language={old.data.language} value={old.data.content} />
  );
  return (
    <section aria-label={isDeployed ? "Version" : "Comparison"} className="comparison">
      <Group justify="space-between" mb="xs">
        <Text c="dimmed">
          {isDeployed
            ? `Version ${hash} is the deployed one`
            : asCode
              ? `The code of version ${hash}`
              : `What changed from version ${hash} to the deployed one`}
        </Text>
        <Group gap="xs">
          {!isDeployed && (
            <SegmentedControl
              size="xs"
              aria-label="How the version is shown"
              value={asCode ? "code" : "changes"}
              onChange={(value) => setAsCode(value === "code")}
              data={[
                { value: "changes", label: "Changes" },
                { value: "code", label: "Code" },
              ]}
            />
          )}
          {restore && !isDeployed && (
            <Button variant="default" size="xs" loading={isPending} onClick={() => restore(old.data)}>
              Go back to version {hash}
            </Button>
          )}
        </Group>
      </Group>
      {isDeployed || asCode ? (
        code
      ) : isSame ? (
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
