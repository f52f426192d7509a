import type { Tx } from "../../database/database.ts";

/** A version whose dependencies are resolved again by a job. */
export interface RelockTarget {
  kind: "dependencies" | "flowdependencies";
  script_path: string;
  script_hash?: string;
  flow_version?: number;
  language?: string;
  /** Username of the user who deployed it; the job runs as that user. */
  created_by: string;
}

/** Items whose code imports deployed scripts. */
export interface Importers {
  kind: "script" | "flow";
  /**
   * Returns which versions of the items at these paths must be locked again after a script that they import was
   * deployed.
   */
  relockTargets(tx: Tx, workspace_id: string, paths: string[]): Promise<RelockTarget[]>;
}
