import { Alert, Anchor } from "@mantine/core";
import { Link } from "wouter";

/** Shown in place of a form to users who may see an item, but not change it. */
export function ReadOnlyNotice({ path, href }: { path: string; href: string }) {
  return (
    <Alert color="gray" variant="light" title="You cannot change this">
      You may use {path}, but not change it: ask one of its owners or an admin.{" "}
      <Anchor component={Link} href={href} inherit underline="always">
        Go to its page
      </Anchor>
    </Alert>
  );
}
