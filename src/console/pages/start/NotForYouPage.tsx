import { Button } from "@mantine/core";
import { Link } from "wouter";
import { PageHead } from "../../parts/elements/PageHead.tsx";
import { linkTo, useWorkspace } from "../../parts/navigation/places.ts";
import type { Audience } from "../audiences.ts";

/** Shown to users for whom a page is not made. */
export function NotForYouPage({ audience: { title, about } }: { audience: Audience }) {
  return (
    <div className="page">
      <PageHead title={title} about={about}>
        <Button component={Link} href={linkTo.home(useWorkspace())}>
          Go to Home
        </Button>
      </PageHead>
    </div>
  );
}
