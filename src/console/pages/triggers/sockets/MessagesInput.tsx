import { Button, Group, Input, Stack, Text, Textarea } from "@mantine/core";
import { useState } from "react";
import type { WebsocketTrigger } from "../../../api/interface.d.ts";

export type Message = WebsocketTrigger["initial_messages"][number];

/** A message in the form; its number identifies its field when others are added or removed. */
export interface Row {
  id: number;
  message: Message;
}

export const toRows = (messages: Message[]): Row[] => messages.map((message, id) => ({ id, message }));

/** Returns the messages in order, without empty ones. */
export const toMessages = (rows: Row[], before: Message[]): Message[] =>
  rows
    .map(({ message }) => message)
    .filter(
      (message) => before.includes(message) || !("raw_message" in message) || message.raw_message !== "",
    );

interface Props {
  value: Row[];
  change: (value: Row[]) => void;
}

/** Initial messages, sent in order after connecting: texts, and results of scripts. */
export function MessagesInput({ value, change }: Props) {
  const [next, setNext] = useState(value.length);
  return (
    <Input.Wrapper
      label="Sent when it connects"
      description="In this order, for example a message that subscribes."
      labelElement="div"
    >
      <Stack gap="xs" mt="xs">
        {value.map(({ id, message }, index) => (
          <Group key={id} align="flex-start" wrap="nowrap">
            {"raw_message" in message ? (
              <Textarea
                aria-label={`Message ${index + 1}`}
                className="mono-input"
                style={{ flex: 1 }}
                autosize
                value={message.raw_message}
                onChange={(event) => {
                  const raw_message = event.currentTarget.value;
                  change(value.map((row) => (row.id === id ? { id, message: { raw_message } } : row)));
                }}
              />
            ) : (
              <Text style={{ flex: 1 }} className="wrap">
                What <span className="mono">{message.runnable_result.path}</span> makes
              </Text>
            )}
            <Button
              variant="default"
              aria-label={`Remove message ${index + 1}`}
              onClick={() => change(value.filter((row) => row.id !== id))}
            >
              Remove
            </Button>
          </Group>
        ))}
        <Button
          variant="default"
          size="xs"
          w="fit-content"
          onClick={() => {
            setNext(next + 1);
            change([...value, { id: next, message: { raw_message: "" } }]);
          }}
        >
          Add a message
        </Button>
      </Stack>
    </Input.Wrapper>
  );
}
