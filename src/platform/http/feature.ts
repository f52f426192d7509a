import type { Feature } from "../app/feature.ts";
import type { Operation } from "./operation.ts";

/** A feature with the operations that the server mounts. */
export interface MountedFeature extends Feature {
  /** Operations by the file that declares them, relative to the feature's folder. */
  operations: Record<string, Operation[]>;
}

/** Defines a feature; `server/features.ts` lists all of them. */
export function defineFeature(feature: MountedFeature): MountedFeature {
  return feature;
}
