import { Anchor } from "@mantine/core";
import { Link } from "wouter";
import { linkTo } from "../navigation/places.ts";

/** Link to the script or flow that a trigger starts. */
export const Target = ({ workspace, path, isFlow }: { workspace: string; path: string; isFlow: boolean }) => (
  <Anchor
    component={Link}
    href={isFlow ? linkTo.flow(workspace, path) : linkTo.script(workspace, path)}
    fz="sm"
  >
    {path}
  </Anchor>
);
