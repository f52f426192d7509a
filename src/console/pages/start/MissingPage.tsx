import { Button } from "@mantine/core";
import { Link } from "wouter";
import { PageHead } from "../../parts/elements/PageHead.tsx";

export function MissingPage() {
  return (
    <div className="page">
      <PageHead title="There is no such page" about="The address may be misspelt, or the page was moved.">
        <Button component={Link} href="/">
          Go to Home
        </Button>
      </PageHead>
    </div>
  );
}
