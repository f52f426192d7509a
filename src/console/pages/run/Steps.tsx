import { Title } from "@mantine/core";
import {
  IconCircleCheck,
  IconCircleDashed,
  IconCircleX,
  IconHandStop,
  IconLoader2,
} from "@tabler/icons-react";
import { Link } from "wouter";
import type { Job } from "../../api/interface.d.ts";
import { to } from "../../parts/places.ts";

type Status = NonNullable<Job["flow_status"]>;
type StepType = Status["modules"][number]["type"];

const TYPES: Record<StepType, { word: string; tone: string; Icon: typeof IconLoader2 }> = {
  WaitingForPriorSteps: { word: "Not yet", tone: "quiet", Icon: IconCircleDashed },
  WaitingForEvents: { word: "Needs approval", tone: "waiting", Icon: IconHandStop },
  WaitingForExecutor: { word: "Waiting", tone: "waiting", Icon: IconCircleDashed },
  InProgress: { word: "Running", tone: "busy", Icon: IconLoader2 },
  Success: { word: "Succeeded", tone: "good", Icon: IconCircleCheck },
  Failure: { word: "Failed", tone: "bad", Icon: IconCircleX },
};

/** Lists the steps of a flow run with links to their jobs. */
export function Steps({ workspace, status }: { workspace: string; status: Status }) {
  return (
    <section className="panel" aria-label="Steps">
      <div className="panel-head">
        <Title order={2}>Steps</Title>
      </div>
      {status.modules.map(({ id, job, type }) => {
        const { word, tone, Icon } = TYPES[type];
        return (
          <div key={id} className="row" style={{ gridTemplateColumns: "9rem minmax(0, 1fr)" }}>
            <span className="state" data-tone={tone}>
              <Icon size={16} aria-hidden />
              {word}
            </span>
            {job ? <Link href={to.run(workspace, job)}>{id}</Link> : <span className="quiet">{id}</span>}
          </div>
        );
      })}
    </section>
  );
}
