import { Alert, Button, Group, Text } from "@mantine/core";
import { notifications } from "@mantine/notifications";
import { IconAlertTriangle } from "@tabler/icons-react";
import { useConnection } from "../../api/connection.ts";
import { ApiError } from "../../api/errors.ts";

const STATUS = /^(Bad request|Permission denied|Conflict|Unauthorized|Unprocessable|Too many requests): /;

/** Returns the error message without the status prefix, except the one that makes a sentence of a name. */
export function getErrorMessage(error: unknown): string {
  const text = error instanceof Error ? error.message : String(error);
  return text.replace(STATUS, "");
}

export const getErrorHint = (error: unknown): string | undefined =>
  error instanceof ApiError ? error.hint : undefined;

/** Inline error with hint and retry. */
export function Problem({ error, retry }: { error: unknown; retry?: () => void }) {
  const { ended } = useConnection();
  // The session dialog reports it.
  if (ended && error instanceof ApiError && error.status === 401) return null;
  const hint = getErrorHint(error);
  const id = error instanceof ApiError && error.status >= 500 ? error.requestId : undefined;
  return (
    <Alert color="red" variant="light" icon={<IconAlertTriangle size={18} />} role="alert">
      <Text fw={500} className="wrap" style={{ whiteSpace: "pre-wrap" }}>
        {getErrorMessage(error)}
      </Text>
      {hint && (
        <Text mt={4} className="wrap">
          {hint}
        </Text>
      )}
      {id && (
        <Text mt={4} className="mono">
          Request {id}
        </Text>
      )}
      {retry && (
        <Group mt="sm">
          <Button variant="default" size="xs" onClick={retry}>
            Try again
          </Button>
        </Group>
      )}
    </Alert>
  );
}

/** Shows an error as a notification, for actions without a place for inline errors. */
export function notifyError(error: unknown): void {
  const hint = getErrorHint(error);
  notifications.show({
    color: "red",
    title: getErrorMessage(error),
    message: hint ?? "",
    autoClose: 10_000,
  });
}
