import { Button, Group, Modal, Text } from "@mantine/core";
import { leavePage, stayOnPage, useLeaving } from "../api/leaving.ts";

/** Dialog that asks before a page with unsaved changes is left. */
export function LeaveQuestion() {
  const wanted = useLeaving();
  return (
    <Modal opened={wanted !== undefined} onClose={stayOnPage} title="Leave without saving?">
      <Text>What you entered on this page is lost.</Text>
      <Group justify="flex-end" mt="lg">
        <Button variant="default" onClick={stayOnPage} data-autofocus>
          Stay
        </Button>
        <Button color="red.9" onClick={leavePage}>
          Leave
        </Button>
      </Group>
    </Modal>
  );
}
