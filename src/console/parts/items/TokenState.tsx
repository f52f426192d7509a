import { Badge, Tooltip } from "@mantine/core";
import { formatExactTime } from "../elements/time.tsx";

interface Props {
  is_expired: boolean;
  refresh_error?: string | undefined;
  expires_at?: string | null | undefined;
}

/** State of the token of a connected account. */
export function TokenState({ is_expired, refresh_error, expires_at }: Props) {
  const [word, color, more] = refresh_error
    ? ["refresh failed", "red", refresh_error]
    : is_expired
      ? ["token expired", "red", expires_at ? `since ${formatExactTime(expires_at)}` : ""]
      : [
          "connected",
          "green",
          expires_at ? `its token expires ${formatExactTime(expires_at)}` : "its token does not expire",
        ];
  return (
    <Tooltip label={more} multiline maw={320}>
      <Badge size="sm" variant="light" color={color} tabIndex={0}>
        {word}
      </Badge>
    </Tooltip>
  );
}
