import { Button } from "@mantine/core";
import { IconPencil, IconPlayerPause, IconPlayerPlay } from "@tabler/icons-react";
import { Link, useLocation } from "wouter";
import { useConfirmation } from "../../parts/elements/actions.tsx";

interface Props {
  /** Such as `schedule`. */
  noun: string;
  path: string;
  enabled: boolean;
  isSwitching: boolean;
  setEnabled: (enabled: boolean) => void;
  /** Address of its form; absent: it cannot be edited here. */
  edit?: string;
  remove: () => Promise<void>;
  /** Called before the deletion, and if it fails: an item being deleted is not reloaded. */
  leave: (isLeaving: boolean) => void;
  /** Address of the page to show after the deletion. */
  back: string;
}

/** Buttons for users who may change a schedule or trigger. */
export function TriggerActions(props: Props) {
  const { noun, path, enabled, isSwitching, setEnabled, edit, remove, leave, back } = props;
  const [, go] = useLocation();
  const { ask, dialog } = useConfirmation();
  const Icon = enabled ? IconPlayerPause : IconPlayerPlay;
  const askDelete = () =>
    ask({
      title: `Delete the ${noun}?`,
      text: `The ${noun} ${path} is deleted. The runs that it started are kept, and those that are running continue.`,
      label: "Delete",
      action: async () => {
        leave(true);
        await remove().catch((error) => {
          leave(false);
          throw error;
        });
        go(back);
        return undefined;
      },
    });
  return (
    <>
      <Button
        variant="default"
        leftSection={<Icon size={16} />}
        loading={isSwitching}
        onClick={() => setEnabled(!enabled)}
      >
        {enabled ? "Pause" : "Resume"}
      </Button>
      {edit && (
        <Button variant="default" component={Link} href={edit} leftSection={<IconPencil size={16} />}>
          Edit
        </Button>
      )}
      <Button variant="default" onClick={askDelete}>
        Delete
      </Button>
      {dialog}
    </>
  );
}
