import { Button, Group, Stack, Text, Title } from "@mantine/core";
import { type FormEvent, type ReactNode, useId } from "react";
import { type Action, useAction } from "../../../parts/elements/actions.tsx";

interface Props {
  title: string;
  /** Explains the purpose of the setting. */
  about: ReactNode;
  children?: ReactNode;
  /** Stores the changes; absent if the user may not change the setting. */
  save?: Action;
  isChanged?: boolean;
  label?: string;
  /** Stands before the button. */
  more?: ReactNode;
}

/** One workspace setting, which is stored separately. */
export function Section({ title, about, children, save, isChanged = true, label = "Save", more }: Props) {
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
              {more}
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
