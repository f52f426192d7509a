/** Actions of buttons: an API call, after which the shown data is reloaded. */
import { Button, Group, Modal, Stack, Text, TextInput } from "@mantine/core";
import { notifications } from "@mantine/notifications";
import { useMutation } from "@tanstack/react-query";
import { type FormEvent, type ReactNode, useState } from "react";
import { queryClient } from "../../api/client.ts";
import { reloadAfterChange } from "../../api/reload.ts";
import { notifyError, Problem } from "./Problem.tsx";

/** Performs a change and returns a confirmation, or nothing if the page shows the change itself. */
export type Action = () => Promise<string | undefined>;

async function perform(action: Action): Promise<void> {
  const message = await action();
  if (message) notifications.show({ message });
  await reloadAfterChange(queryClient);
}

/** Returns a function that performs an action; an error is shown as a notification. */
export function useAction() {
  const { mutate, isPending } = useMutation({ mutationFn: perform, onError: notifyError });
  return { act: mutate, isPending };
}

/**
 * Focuses the element at once; used as the ref of a dialog's first field. The dialog moves the focus later, and keys
 * until then would act on the page behind.
 */
export const focusAtOnce = (element: HTMLElement | null) => element?.focus();

interface DialogProps {
  title: string;
  opened: boolean;
  close: () => void;
  action: Action;
  /** Label of the button. */
  label: string;
  children: ReactNode;
  size?: string;
  isDangerous?: boolean;
  isReady?: boolean;
}

/** Form in a dialog. If submitting fails, the error is shown and the input is kept. */
export function FormDialog(props: DialogProps) {
  const { title, opened, close, action, label, children, isDangerous, isReady = true } = props;
  const change = useMutation({ mutationFn: perform, onSuccess: close });
  const leave = () => {
    change.reset();
    close();
  };
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (isReady) change.mutate(action);
  };
  return (
    <Modal opened={opened} onClose={leave} title={title} size={props.size ?? "md"}>
      <form onSubmit={submit}>
        <Stack gap="sm">
          {children}
          {change.error && <Problem error={change.error} />}
          <Group justify="flex-end" mt="sm">
            <Button variant="default" onClick={leave}>
              Cancel
            </Button>
            <Button
              type="submit"
              color={isDangerous ? "red.9" : "ink"}
              loading={change.isPending}
              disabled={!isReady}
            >
              {label}
            </Button>
          </Group>
        </Stack>
      </form>
    </Modal>
  );
}

export interface Question {
  title: string;
  /** Explains what will be lost. */
  text: string;
  label: string;
  action: Action;
  /** Name that the user must type to confirm. */
  name?: string;
}

/** Asks for confirmation before an irreversible action: `const { ask, dialog } = useConfirmation()`. */
export function useConfirmation() {
  const [question, setQuestion] = useState<Question>();
  const [isOpen, setOpen] = useState(false);
  const [typed, setTyped] = useState("");
  const ask = (next: Question) => {
    setQuestion(next);
    setTyped("");
    setOpen(true);
  };
  const dialog = question && (
    <FormDialog
      title={question.title}
      opened={isOpen}
      close={() => setOpen(false)}
      action={question.action}
      label={question.label}
      isDangerous
      isReady={question.name === undefined || typed === question.name}
    >
      <Text>{question.text}</Text>
      {question.name !== undefined && (
        <TextInput
          data-autofocus
          label={`Type ${question.name} to confirm`}
          autoComplete="off"
          value={typed}
          onChange={(event) => setTyped(event.currentTarget.value)}
        />
      )}
    </FormDialog>
  );
  return { ask, dialog };
}
