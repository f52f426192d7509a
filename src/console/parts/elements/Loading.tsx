import { Skeleton, Stack, VisuallyHidden } from "@mantine/core";

/** Placeholder rows while data is loading. */
export function Loading({ rows = 6 }: { rows?: number }) {
  return (
    <Stack gap="sm" role="status">
      <VisuallyHidden>Loading</VisuallyHidden>
      {Array.from({ length: rows }, (_, row) => (
        <Skeleton key={row} height={38} radius="md" />
      ))}
    </Stack>
  );
}
