import { Button } from "@mantine/core";
import { Link } from "wouter";
import { useWorkspace } from "../../parts/navigation/places.ts";
import { StartCard } from "./StartCard.tsx";

/** Shown instead of a workspace that the user does not belong to. */
export function NotMemberPage() {
  const workspace = useWorkspace();
  return (
    <StartCard
      title={`You are not in ${workspace}`}
      about="There may be no such workspace, or you are not a member of it. One of its admins can invite you."
    >
      <Button component={Link} href="/workspaces" variant="default" fullWidth>
        Go to your workspaces
      </Button>
    </StartCard>
  );
}
