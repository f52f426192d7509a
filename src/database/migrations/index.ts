/** Written by `bun run db:generate`: the migrations, in order, as they travel inside the executable. */

import postgres_0000_init from "./postgres/0000_init.sql" with { type: "text" };
import postgres_0001_jobs_whole from "./postgres/0001_jobs_whole.sql" with { type: "text" };
import postgres_0002_flows from "./postgres/0002_flows.sql" with { type: "text" };
import postgres_0003_instance from "./postgres/0003_instance.sql" with { type: "text" };
import postgres_0004_webhook_events_told from "./postgres/0004_webhook_events_told.sql" with { type: "text" };
import postgres_0005_hardening from "./postgres/0005_hardening.sql" with { type: "text" };
import postgres_0006_kept_fields from "./postgres/0006_kept_fields.sql" with { type: "text" };
import postgres_0007_captures from "./postgres/0007_captures.sql" with { type: "text" };
import postgres_0008_previous_key from "./postgres/0008_previous_key.sql" with { type: "text" };
import postgres_0009_modules from "./postgres/0009_modules.sql" with { type: "text" };
import postgres_0010_validate from "./postgres/0010_validate.sql" with { type: "text" };
import postgres_0011_planned_runs from "./postgres/0011_planned_runs.sql" with { type: "text" };
import postgres_0012_job_search from "./postgres/0012_job_search.sql" with { type: "text" };
import postgres_0013_job_search_order from "./postgres/0013_job_search_order.sql" with { type: "text" };
import postgres_0014_drafts_per_person from "./postgres/0014_drafts_per_person.sql" with { type: "text" };
import postgres_0015_blocked_jobs from "./postgres/0015_blocked_jobs.sql" with { type: "text" };
import sqlite_0000_init from "./sqlite/0000_init.sql" with { type: "text" };
import sqlite_0001_jobs_whole from "./sqlite/0001_jobs_whole.sql" with { type: "text" };
import sqlite_0002_flows from "./sqlite/0002_flows.sql" with { type: "text" };
import sqlite_0003_instance from "./sqlite/0003_instance.sql" with { type: "text" };
import sqlite_0004_webhook_events_told from "./sqlite/0004_webhook_events_told.sql" with { type: "text" };
import sqlite_0005_hardening from "./sqlite/0005_hardening.sql" with { type: "text" };
import sqlite_0006_kept_fields from "./sqlite/0006_kept_fields.sql" with { type: "text" };
import sqlite_0007_captures from "./sqlite/0007_captures.sql" with { type: "text" };
import sqlite_0008_previous_key from "./sqlite/0008_previous_key.sql" with { type: "text" };
import sqlite_0009_modules from "./sqlite/0009_modules.sql" with { type: "text" };
import sqlite_0010_validate from "./sqlite/0010_validate.sql" with { type: "text" };
import sqlite_0011_planned_runs from "./sqlite/0011_planned_runs.sql" with { type: "text" };
import sqlite_0012_job_search from "./sqlite/0012_job_search.sql" with { type: "text" };
import sqlite_0013_job_search_order from "./sqlite/0013_job_search_order.sql" with { type: "text" };
import sqlite_0014_drafts_per_person from "./sqlite/0014_drafts_per_person.sql" with { type: "text" };
import sqlite_0015_blocked_jobs from "./sqlite/0015_blocked_jobs.sql" with { type: "text" };
import sqlite_schema from "./sqlite-schema.sql" with { type: "text" };

export const migrations = {
  sqlite: [
    { name: "0000_init", sql: sqlite_0000_init },
    { name: "0001_jobs_whole", sql: sqlite_0001_jobs_whole },
    { name: "0002_flows", sql: sqlite_0002_flows },
    { name: "0003_instance", sql: sqlite_0003_instance },
    { name: "0004_webhook_events_told", sql: sqlite_0004_webhook_events_told },
    { name: "0005_hardening", sql: sqlite_0005_hardening },
    { name: "0006_kept_fields", sql: sqlite_0006_kept_fields },
    { name: "0007_captures", sql: sqlite_0007_captures },
    { name: "0008_previous_key", sql: sqlite_0008_previous_key },
    { name: "0009_modules", sql: sqlite_0009_modules },
    { name: "0010_validate", sql: sqlite_0010_validate },
    { name: "0011_planned_runs", sql: sqlite_0011_planned_runs },
    { name: "0012_job_search", sql: sqlite_0012_job_search },
    { name: "0013_job_search_order", sql: sqlite_0013_job_search_order },
    { name: "0014_drafts_per_person", sql: sqlite_0014_drafts_per_person },
    { name: "0015_blocked_jobs", sql: sqlite_0015_blocked_jobs },
  ],
  postgres: [
    { name: "0000_init", sql: postgres_0000_init },
    { name: "0001_jobs_whole", sql: postgres_0001_jobs_whole },
    { name: "0002_flows", sql: postgres_0002_flows },
    { name: "0003_instance", sql: postgres_0003_instance },
    { name: "0004_webhook_events_told", sql: postgres_0004_webhook_events_told },
    { name: "0005_hardening", sql: postgres_0005_hardening },
    { name: "0006_kept_fields", sql: postgres_0006_kept_fields },
    { name: "0007_captures", sql: postgres_0007_captures },
    { name: "0008_previous_key", sql: postgres_0008_previous_key },
    { name: "0009_modules", sql: postgres_0009_modules },
    { name: "0010_validate", sql: postgres_0010_validate },
    { name: "0011_planned_runs", sql: postgres_0011_planned_runs },
    { name: "0012_job_search", sql: postgres_0012_job_search },
    { name: "0013_job_search_order", sql: postgres_0013_job_search_order },
    { name: "0014_drafts_per_person", sql: postgres_0014_drafts_per_person },
    { name: "0015_blocked_jobs", sql: postgres_0015_blocked_jobs },
  ],
};

/** What the migrations make of an empty database, in fewer statements. */
export { sqlite_schema };
