import { Anchor, Button, Group, Text, Title } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import type { Job } from "../../../api/interface.d.ts";
import { Loading } from "../../elements/Loading.tsx";
import { Problem } from "../../elements/Problem.tsx";
import { ResultPanel } from "./ResultPanel.tsx";
import type { Source } from "./views/ErrorView.tsx";
import { getPartUrl, isLeftOut, type Part, wholeValueQuery } from "./whole-value.ts";

interface Props {
  title: string;
  workspace: string;
  job: Job;
  part: Part;
  /** The executed code. */
  source?: Source | undefined;
}

const emptyAsNothing = (args: unknown) =>
  typeof args === "object" && args !== null && Object.keys(args).length === 0 ? null : args;

/** Arguments or result of a run, of any size. */
export function RunValue({ title, workspace, job, part, source }: Props) {
  if (isLeftOut(job, part)) {
    return <Whole key={job.id} title={title} workspace={workspace} job={job} part={part} source={source} />;
  }
  const value = part === "args" ? emptyAsNothing(job.args) : job.result;
  return <ResultPanel title={title} workspace={workspace} value={value} source={source} />;
}

function Whole({ title, workspace, job: { id }, part, source }: Props) {
  const [isAsked, setAsked] = useState(false);
  const whole = useQuery(wholeValueQuery(workspace, id, part, isAsked));
  if (whole.data && "value" in whole.data) {
    return <ResultPanel title={title} workspace={workspace} value={whole.data.value} source={source} />;
  }
  return (
    <section className="panel" aria-label={title}>
      <div className="panel-head">
        <Title order={2}>{title}</Title>
      </div>
      {whole.error ? (
        <Problem error={whole.error} retry={() => void whole.refetch()} />
      ) : whole.isPending ? (
        <Loading rows={3} />
      ) : (
        <Group p="md" justify="space-between">
          <Text>It is larger than 16 MB.</Text>
          <Group gap="md">
            <Anchor download={`${title.toLowerCase()}.json`} href={getPartUrl(workspace, id, part)}>
              Download it
            </Anchor>
            <Button size="xs" variant="default" onClick={() => setAsked(true)}>
              Show it anyway
            </Button>
          </Group>
        </Group>
      )}
    </section>
  );
}
