import { Alert, Anchor } from "@mantine/core";
import { Link } from "wouter";
import { Moment } from "../time.tsx";

interface Props {
  drafts: readonly { created_by: string; created_at: string }[];
  /** Returns the address of a page that shows the changes of a user's draft; undefined: there is none. */
  review?: ((username: string) => string) | undefined;
}

/** Lists other users who have a draft of the edited item. */
export const OtherDrafts = ({ drafts, review }: Props) =>
  drafts.length > 0 && (
    <Alert variant="light" color="blue" mb="md">
      {drafts.map(({ created_by, created_at }) => (
        <div key={created_by}>
          {created_by} has a draft of this too, kept <Moment at={created_at} />.{" "}
          {review && (
            <Anchor component={Link} href={review(created_by)} inherit underline="always">
              What it changes
            </Anchor>
          )}
        </div>
      ))}
      Each draft is its author's own: yours is kept beside, and whoever deploys second is shown what came
      between.
    </Alert>
  );
