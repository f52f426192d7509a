import { Button, Group, Modal, Text } from "@mantine/core";
import { leave, stay, useLeaving } from "../api/leaving.ts";

/** Asks before a page with something unsaved is left. */
export function LeaveQuestion() {
  const wanted = useLeaving();
  return (
    <Modal opened={wanted !== undefined} onClose={stay} title="Leave without saving?">
      <Text>What you entered on this page is lost.</Text>
      <Group justify="flex-end" mt="lg">
        <Button variant="default" onClick={stay} data-autofocus>
          Stay
        </Button>
        <Button color="red.9" onClick={leave}>
          Leave
        </Button>
      </Group>
    </Modal>
  );
}
