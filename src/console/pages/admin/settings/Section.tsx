import { Button, Group, Stack, Text, Title } from "@mantine/core";
import { type FormEvent, type ReactNode, useId } from "react";
import { type Action, useAction } from "../../../parts/actions.tsx";

interface Props {
  title: string;
  /** What the setting is for. */
  about: ReactNode;
  children?: ReactNode;
  /** Stores what was changed; absent where nobody may. */
  save?: Action;
  isChanged?: boolean;
  label?: string;
}

/** One setting of a workspace, stored on its own. */
export function Section({ title, about, children, save, isChanged = true, label = "Save" }: Props) {
  const { act, isPending } = useAction();
  const heading = useId();
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (save) act(save);
  };
  return (
    <section className="setting" aria-labelledby={heading}>
      <form onSubmit={submit}>
        <Title order={2} id={heading}>
          {title}
        </Title>
        <Text c="dimmed" component="div" mt={4} mb="sm">
          {about}
        </Text>
        <Stack gap="sm" maw="32rem">
          {children}
          {save && (
            <Group>
              <Button type="submit" variant="default" loading={isPending} disabled={!isChanged}>
                {label}
              </Button>
            </Group>
          )}
        </Stack>
      </form>
    </section>
  );
}
