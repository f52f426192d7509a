CREATE TABLE "audit_log" (
	"id" bigint PRIMARY KEY GENERATED ALWAYS AS IDENTITY (sequence name "audit_log_id_seq" INCREMENT BY 1 MINVALUE 1 MAXVALUE 9223372036854775807 START WITH 1 CACHE 1),
	"workspace_id" text NOT NULL,
	"timestamp" timestamp(3) with time zone NOT NULL,
	"username" text NOT NULL,
	"email" text NOT NULL,
	"operation" text NOT NULL,
	"action_kind" text NOT NULL,
	"resource" text,
	"parameters" text
);
--> statement-breakpoint
CREATE TABLE "scripts" (
	"seq" bigint PRIMARY KEY GENERATED ALWAYS AS IDENTITY (sequence name "scripts_seq_seq" INCREMENT BY 1 MINVALUE 1 MAXVALUE 9223372036854775807 START WITH 1 CACHE 1),
	"workspace_id" text NOT NULL,
	"hash" text NOT NULL,
	"path" text NOT NULL,
	"parent_hashes" text NOT NULL,
	"summary" text NOT NULL,
	"description" text NOT NULL,
	"content" text NOT NULL,
	"schema" text NOT NULL,
	"parameters" text NOT NULL,
	"language" text NOT NULL,
	"kind" text NOT NULL,
	"is_template" boolean NOT NULL,
	"lock" text,
	"lock_error_logs" text,
	"ready" boolean NOT NULL,
	"tag" text,
	"envs" text NOT NULL,
	"concurrent_limit" bigint,
	"concurrency_time_window_s" bigint,
	"concurrency_key" text,
	"cache_ttl" bigint,
	"timeout" bigint,
	"priority" bigint,
	"delete_after_use" boolean NOT NULL,
	"dedicated_worker" boolean NOT NULL,
	"restart_unless_cancelled" boolean NOT NULL,
	"visible_to_runner_only" boolean NOT NULL,
	"ws_error_handler_muted" boolean NOT NULL,
	"isolation" text NOT NULL,
	"no_main_func" boolean NOT NULL,
	"has_preprocessor" boolean NOT NULL,
	"on_behalf_of_email" text,
	"deployment_message" text,
	"created_by" text NOT NULL,
	"created_at" timestamp(3) with time zone NOT NULL,
	"archived" boolean NOT NULL,
	"deleted" boolean NOT NULL,
	"extra_perms" text NOT NULL
);
--> statement-breakpoint
CREATE TABLE "tokens" (
	"hash" text PRIMARY KEY NOT NULL,
	"prefix" text NOT NULL,
	"email" text NOT NULL,
	"label" text,
	"expiration" timestamp(3) with time zone,
	"scopes" text,
	"workspace_id" text,
	"kind" text NOT NULL,
	"created_at" timestamp(3) with time zone NOT NULL,
	"last_used_at" timestamp(3) with time zone NOT NULL
);
--> statement-breakpoint
CREATE TABLE "users" (
	"email" text PRIMARY KEY NOT NULL,
	"password_hash" text,
	"login_type" text NOT NULL,
	"super_admin" boolean NOT NULL,
	"devops" boolean DEFAULT false NOT NULL,
	"verified" boolean NOT NULL,
	"name" text,
	"company" text,
	"username" text,
	"first_time_user" boolean NOT NULL,
	"created_at" timestamp(3) with time zone NOT NULL
);
--> statement-breakpoint
CREATE TABLE "variables" (
	"workspace_id" text NOT NULL,
	"path" text NOT NULL,
	"value" text NOT NULL,
	"is_secret" boolean NOT NULL,
	"description" text NOT NULL,
	"account" bigint,
	"is_oauth" boolean NOT NULL,
	"expires_at" timestamp(3) with time zone,
	"extra_perms" text NOT NULL,
	CONSTRAINT "variables_workspace_id_path_pk" PRIMARY KEY("workspace_id","path")
);
--> statement-breakpoint
CREATE TABLE "workspace_members" (
	"workspace_id" text NOT NULL,
	"email" text NOT NULL,
	"username" text NOT NULL,
	"is_admin" boolean NOT NULL,
	"operator" boolean NOT NULL,
	"disabled" boolean DEFAULT false NOT NULL,
	"created_at" timestamp(3) with time zone NOT NULL,
	CONSTRAINT "workspace_members_workspace_id_email_pk" PRIMARY KEY("workspace_id","email")
);
--> statement-breakpoint
CREATE TABLE "workspaces" (
	"id" text PRIMARY KEY NOT NULL,
	"name" text NOT NULL,
	"owner" text NOT NULL,
	"archived" boolean DEFAULT false NOT NULL,
	"created_at" timestamp(3) with time zone NOT NULL,
	"wrapped_key" text NOT NULL
);
--> statement-breakpoint
CREATE TABLE "job_logs" (
	"job_id" text NOT NULL,
	"seq" bigint NOT NULL,
	"content" text NOT NULL,
	CONSTRAINT "job_logs_job_id_seq_pk" PRIMARY KEY("job_id","seq")
);
--> statement-breakpoint
CREATE TABLE "job_streams" (
	"job_id" text NOT NULL,
	"seq" bigint NOT NULL,
	"content" text NOT NULL,
	CONSTRAINT "job_streams_job_id_seq_pk" PRIMARY KEY("job_id","seq")
);
--> statement-breakpoint
CREATE TABLE "jobs" (
	"id" text PRIMARY KEY NOT NULL,
	"workspace_id" text NOT NULL,
	"kind" text NOT NULL,
	"state" text NOT NULL,
	"status" text,
	"created_by" text NOT NULL,
	"permissioned_as" text NOT NULL,
	"email" text NOT NULL,
	"created_at" timestamp(3) with time zone NOT NULL,
	"scheduled_for" timestamp(3) with time zone NOT NULL,
	"started_at" timestamp(3) with time zone,
	"completed_at" timestamp(3) with time zone,
	"duration_ms" bigint,
	"script_path" text,
	"script_hash" text,
	"language" text,
	"tag" text NOT NULL,
	"priority" bigint DEFAULT 0 NOT NULL,
	"timeout_s" bigint,
	"args" text NOT NULL,
	"result" text,
	"raw_code" text,
	"raw_lock" text,
	"preprocessor_input" text,
	"preprocessed" boolean,
	"parent_job" text,
	"root_job" text,
	"visible_to_owner" boolean DEFAULT true NOT NULL,
	"trigger_kind" text,
	"cancel_requested" boolean DEFAULT false NOT NULL,
	"canceled_by" text,
	"canceled_reason" text,
	"worker" text,
	"last_ping" timestamp(3) with time zone,
	"attempts" bigint DEFAULT 0 NOT NULL,
	"mem_peak_kb" bigint,
	"labels" text,
	"deleted" boolean DEFAULT false NOT NULL
);
--> statement-breakpoint
CREATE INDEX "audit_by_workspace" ON "audit_log" USING btree ("workspace_id","id");--> statement-breakpoint
CREATE UNIQUE INDEX "scripts_by_hash" ON "scripts" USING btree ("workspace_id","hash");--> statement-breakpoint
CREATE INDEX "scripts_by_path" ON "scripts" USING btree ("workspace_id","path","seq");--> statement-breakpoint
CREATE INDEX "tokens_by_email" ON "tokens" USING btree ("email");--> statement-breakpoint
CREATE UNIQUE INDEX "workspace_members_by_username" ON "workspace_members" USING btree ("workspace_id","username");--> statement-breakpoint
CREATE INDEX "jobs_by_workspace" ON "jobs" USING btree ("workspace_id","id");--> statement-breakpoint
CREATE INDEX "jobs_queued" ON "jobs" USING btree (priority DESC,"scheduled_for","id") WHERE state = 'queued';--> statement-breakpoint
CREATE INDEX "jobs_running" ON "jobs" USING btree ("worker") WHERE state = 'running';