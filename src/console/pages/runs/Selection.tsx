import { Button, Group, Modal, Text } from "@mantine/core";
import { notifications } from "@mantine/notifications";
import { useMutation } from "@tanstack/react-query";
import { useState } from "react";
import { callOperation } from "../../api/call.ts";
import { queryClient } from "../../api/client.ts";
import type { Job } from "../../api/interface.d.ts";
import { useMayCancel } from "../../api/item-rights.ts";
import { notifyError } from "../../parts/elements/Problem.tsx";
import { findDeployedRunnable, getRunState } from "../../parts/runs/run-state.tsx";
import { canBeCancelled } from "./filters.ts";

interface Props {
  workspace: string;
  chosen: Job[];
  clear: () => void;
}

const many = (count: number) => (count === 1 ? "1 run" : `${count} runs`);

/** Actions on selected runs. The ids are fixed when the dialog opens. */
export function Selection({ workspace, chosen, clear }: Props) {
  const [asked, setAsked] = useState<{ what: "cancel" | "again"; ids: string[] }>();
  const mayCancel = useMayCancel(workspace);
  const open = chosen.filter((job) => canBeCancelled(getRunState(job)) && mayCancel(job));
  const again = chosen.filter(findDeployedRunnable);
  const act = useMutation({
    mutationFn: async ({ what, ids }: { what: "cancel" | "again"; ids: string[] }) => {
      if (what === "cancel") {
        const done = await callOperation("POST /w/{workspace}/jobs/queue/cancel_selection", {
          workspace,
          body: ids,
        });
        return `${done.length} of ${many(ids.length)} cancelled`;
      }
      const made = await callOperation("POST /w/{workspace}/jobs/run/batch_rerun_jobs", {
        workspace,
        body: { job_ids: ids },
      });
      const count = made.split("\n").filter((line) => /^[0-9a-f-]{36}$/.test(line)).length;
      return `${many(count)} started again`;
    },
    onSuccess(message) {
      notifications.show({ message });
      clear();
    },
    onError: notifyError,
    onSettled: () => {
      setAsked(undefined);
      return queryClient.invalidateQueries({ queryKey: [workspace, "runs"] });
    },
  });
  const ids = (jobs: Job[]) => jobs.map(({ id }) => id);
  return (
    <>
      {chosen.length > 0 && (
        <section className="chosen" aria-label="Selected runs">
          <Text fw={500}>{many(chosen.length)} selected</Text>
          <Button
            size="xs"
            variant="default"
            disabled={again.length === 0}
            onClick={() => setAsked({ what: "again", ids: ids(again) })}
          >
            Run again
          </Button>
          <Button
            size="xs"
            variant="default"
            disabled={open.length === 0}
            onClick={() => setAsked({ what: "cancel", ids: ids(open) })}
          >
            Cancel
          </Button>
          <Button size="xs" variant="subtle" onClick={clear}>
            Clear the selection
          </Button>
        </section>
      )}
      <Modal
        opened={asked !== undefined}
        onClose={() => setAsked(undefined)}
        title={
          asked?.what === "cancel"
            ? `Cancel ${many(asked.ids.length)}?`
            : `Start ${many(asked?.ids.length ?? 0)} again?`
        }
      >
        <Text>
          {asked?.what === "cancel"
            ? "Running jobs are stopped, and waiting jobs do not start."
            : "Each run is repeated with the same arguments and the same version of the code."}
        </Text>
        <Group justify="flex-end" mt="lg">
          <Button variant="default" onClick={() => setAsked(undefined)}>
            Back
          </Button>
          <Button
            color={asked?.what === "cancel" ? "red.9" : "ink"}
            loading={act.isPending}
            onClick={() => asked && act.mutate(asked)}
          >
            {asked?.what === "cancel" ? "Cancel them" : "Start again"}
          </Button>
        </Group>
      </Modal>
    </>
  );
}
