import type { Tx } from "../../database/database.ts";

/** A version whose dependencies are resolved again by a job. */
export interface RelockTarget {
  kind: "dependencies" | "flowdependencies";
  script_path: string;
  script_hash?: string;
  flow_version?: number;
  language?: string;
  /** Username of whoever deployed it: the job runs as that person. */
  created_by: string;
}

/** Items whose code imports deployed scripts. */
export interface Importers {
  kind: "script" | "flow";
  /** Which versions are locked again, of the items at these paths, when a script that they import is deployed. */
  relockTargets(tx: Tx, workspace_id: string, paths: string[]): Promise<RelockTarget[]>;
}
