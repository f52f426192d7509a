import { Code, Group, Text, Title } from "@mantine/core";
import { Fragment, type ReactNode } from "react";
import { useOwnPrefix } from "../../api/item-rights.ts";
import { useWorkspace } from "../navigation/places.ts";

const PLACE = "u/you/";

interface Props {
  title: string;
  /** Explains the purpose of the feature. */
  children: ReactNode;
  /** Primary action. */
  action?: ReactNode;
  /** Equivalent CLI command, for users who may run it. `u/you/` is shown as the user's own place. */
  command?: string | false;
}

/** Empty state. */
export function Empty({ title, children, action, command }: Props) {
  const prefix = useOwnPrefix(useWorkspace()) || PLACE;
  return (
    <div className="empty">
      <Title order={2} mb="xs">
        {title}
      </Title>
      <Text c="dimmed">{children}</Text>
      {action && (
        <Group justify="center" mt="lg">
          {action}
        </Group>
      )}
      {command && (
        <Text c="dimmed" mt="lg" fz="xs">
          At a terminal:{" "}
          <Code>
            {/* Wraps between words, but not within an option. */}
            {command
              .replaceAll(PLACE, prefix)
              .split(" ")
              .map((word, index) => (
                <Fragment key={index}>
                  {index > 0 && " "}
                  <span className="word">{word}</span>
                </Fragment>
              ))}
          </Code>
        </Text>
      )}
    </div>
  );
}
