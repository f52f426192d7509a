import { Button } from "@mantine/core";
import { Link } from "wouter";
import { PageHead } from "../../parts/PageHead.tsx";
import { linkTo, useWorkspace } from "../../parts/places.ts";

/** Shown to operators instead of a page that creates or changes items. */
export function NotAuthorPage() {
  return (
    <div className="page">
      <PageHead
        title="Operators cannot change this"
        about="You can run scripts and flows, and see their runs. To create or change them, ask an admin of the workspace to make you a developer."
      >
        <Button component={Link} href={linkTo.home(useWorkspace())}>
          Go to Home
        </Button>
      </PageHead>
    </div>
  );
}
