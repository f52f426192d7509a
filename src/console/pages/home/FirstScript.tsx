import { Button, Card, SimpleGrid, Text } from "@mantine/core";
import { useMutation, useQuery } from "@tanstack/react-query";
import { useLocation } from "wouter";
import { callOperation } from "../../api/call.ts";
import { queryClient } from "../../api/client.ts";
import { memberQuery, useMay } from "../../api/session.ts";
import { Empty } from "../../parts/elements/Empty.tsx";
import { notifyError } from "../../parts/elements/Problem.tsx";
import { linkTo } from "../../parts/navigation/places.ts";
import { TEMPLATES, type Template } from "./templates.ts";

/** Empty state of Home: creates a script from a template. */
export function FirstScript({ workspace }: { workspace: string }) {
  const [, go] = useLocation();
  const member = useQuery(memberQuery(workspace)).data;
  const may = useMay(workspace)("POST /w/{workspace}/scripts/create", "author");
  const make = useMutation({
    mutationFn: async ({ name, language, summary, content, schema }: Template) => {
      const path = `u/${member?.username}/${name}`;
      const body = { path, language, summary, description: "", content, schema };
      await callOperation("POST /w/{workspace}/scripts/create", { workspace, body });
      return path;
    },
    async onSuccess(path) {
      await queryClient.invalidateQueries({ queryKey: [workspace] });
      go(linkTo.begin(workspace, "script", path));
    },
    onError: notifyError,
  });
  if (!may) {
    return (
      <Empty title="Nothing to run yet">
        Scripts and flows that you may run are listed here. Ask an admin of this workspace to share some.
      </Empty>
    );
  }
  return (
    <>
      <Empty title="Start with a script" command="svc script push hello.ts u/you/hello">
        A script is a function: svc gives it a form, a webhook and schedules, runs it, and stores its log and
        result. Choose one of these and run it.
      </Empty>
      <SimpleGrid cols={{ base: 1, sm: 3 }}>
        {TEMPLATES.map((template) => (
          <Card key={template.name} withBorder>
            <Text fw={600}>{template.summary}</Text>
            <Text c="dimmed" mt={4} mb="md" style={{ flex: 1 }}>
              {template.about}
            </Text>
            <Button
              variant="default"
              disabled={member === undefined}
              loading={make.isPending && make.variables === template}
              onClick={() => make.mutate(template)}
            >
              Use it
            </Button>
          </Card>
        ))}
      </SimpleGrid>
    </>
  );
}
