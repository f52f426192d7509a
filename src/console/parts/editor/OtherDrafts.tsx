import { Alert, Anchor } from "@mantine/core";
import { Link } from "wouter";
import { Moment } from "../elements/time.tsx";

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
          {created_by} has a draft of this too, saved <Moment at={created_at} />.{" "}
          {review && (
            <Anchor component={Link} href={review(created_by)} inherit underline="always">
              Show its changes
            </Anchor>
          )}
        </div>
      ))}
      Drafts are separate: yours is not affected. The user who deploys second sees the changes of the first.
    </Alert>
  );
