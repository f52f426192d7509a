import type { Feature } from "../app/feature.ts";
import type { Operation } from "./operation.ts";

/** A feature with the operations that the server mounts. */
export interface MountedFeature extends Feature {
  /** By the file that declares them, below the feature's folder. */
  operations: Record<string, Operation[]>;
}

/** Declares a feature; `server/features.ts` lists all of them. */
export function defineFeature(feature: MountedFeature): MountedFeature {
  return feature;
}
