import { defineFeature } from "../../../platform/http/feature.ts";
import { deleteExpiredRows } from "../../../platform/loops/expired-rows.ts";
import { captureOperations } from "./operations.ts";
import { receiveOperations } from "./receive-operations.ts";
import { captureConfigs, captures } from "./tables.ts";

const RETENTION_MS = 7 * 24 * 3_600_000;

export const feature = defineFeature({
  folder: "triggers/captures",
  operations: {
    "operations.ts": captureOperations,
    "receive-operations.ts": receiveOperations,
  },
  pathColumns: [
    { column: captureConfigs.path, own: "stale" },
    { column: captures.path, own: "occupied" },
  ],
  mentioningJson: [{ column: captureConfigs.trigger_config, key: captureConfigs.path, form: "names" }],
  usernameColumns: [captureConfigs.edited_by],
  retention: {
    tables: [captureConfigs, captures],
    async *deleteExpired({ db, settings }, now) {
      const jobs_ms = settings.get("retention_period_secs") * 1000 || RETENTION_MS;
      const until = new Date(now.getTime() - Math.min(jobs_ms, RETENTION_MS));
      yield* deleteExpiredRows(db, captures, captures.created_at, until, captures.preprocessor_args);
      yield* deleteExpiredRows(db, captureConfigs, captureConfigs.last_client_ping, until);
    },
  },
});
