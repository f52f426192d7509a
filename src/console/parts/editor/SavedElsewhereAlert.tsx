import { Alert, Button, Group, Text } from "@mantine/core";
import { useAction } from "../elements/actions.tsx";

interface Props {
  /** Reopens the editor with the stored draft. */
  showOther: () => Promise<unknown>;
  /** Saves what is in this editor. */
  keepMine: () => Promise<void>;
}

/** Shown while an editor does not save, because its draft was changed in another tab or browser. */
export function SavedElsewhereAlert({ showOther, keepMine }: Props) {
  const { act } = useAction();
  const choose = (choice: () => Promise<unknown>) => () =>
    act(async () => {
      await choice();
      return undefined;
    });
  return (
    <Alert
      color="yellow"
      variant="light"
      mb="md"
      role="alert"
      title="Not saved: you edited this elsewhere too"
    >
      <Group justify="space-between">
        <Text style={{ flex: "1 1 20rem" }}>
          Your draft was saved, deployed or discarded in another tab or browser. What you change here is not
          saved until you choose.
        </Text>
        <Group gap="xs">
          <Button size="xs" variant="default" onClick={choose(showOther)}>
            Show the other one
          </Button>
          <Button size="xs" variant="default" onClick={choose(keepMine)}>
            Keep this one
          </Button>
        </Group>
      </Group>
    </Alert>
  );
}
