import { Group, Image, Paper, Stack, Text, Title } from "@mantine/core";
import { type ReactNode, useEffect } from "react";
import { toServerPath } from "../../api/base.ts";
import icon from "../../icon.svg";

const mark = toServerPath(`assets/${icon.replace(/^.*\//, "")}`);

/** Layout of pages outside of workspaces. */
export function StartCard({
  title,
  about,
  children,
}: {
  title: string;
  about?: ReactNode;
  children: ReactNode;
}) {
  useEffect(() => {
    document.title = `${title} · svc`;
  }, [title]);
  return (
    <main className="start">
      <Paper className="start-card" shadow="sm">
        <Stack>
          <Group gap="xs">
            <Image src={mark} w={28} h={28} alt="" />
            <Text fw={600}>svc</Text>
          </Group>
          <div>
            <Title order={1}>{title}</Title>
            {about && (
              <Text component="div" c="dimmed" mt={4}>
                {about}
              </Text>
            )}
          </div>
          {children}
        </Stack>
      </Paper>
    </main>
  );
}
