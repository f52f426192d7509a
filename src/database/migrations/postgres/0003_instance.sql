CREATE TABLE "critical_alerts" (
	"id" bigint PRIMARY KEY GENERATED ALWAYS AS IDENTITY (sequence name "critical_alerts_id_seq" INCREMENT BY 1 MINVALUE 1 MAXVALUE 9223372036854775807 START WITH 1 CACHE 1),
	"alert_type" text NOT NULL,
	"kind" text NOT NULL,
	"message" text NOT NULL,
	"workspace_id" text,
	"key" text NOT NULL,
	"count" bigint NOT NULL,
	"created_at" timestamp(3) with time zone NOT NULL,
	"last_raised_at" timestamp(3) with time zone NOT NULL,
	"acknowledged" boolean NOT NULL,
	"next_try_at" timestamp(3) with time zone,
	"tries" bigint DEFAULT 0 NOT NULL,
	"told" text,
	"send_failures" text
);
--> statement-breakpoint
CREATE TABLE "app_versions" (
	"id" bigint PRIMARY KEY GENERATED ALWAYS AS IDENTITY (sequence name "app_versions_id_seq" INCREMENT BY 1 MINVALUE 1 MAXVALUE 9223372036854775807 START WITH 1 CACHE 1),
	"workspace_id" text NOT NULL,
	"app_id" bigint NOT NULL,
	"value" text NOT NULL,
	"created_by" text NOT NULL,
	"created_at" timestamp(3) with time zone NOT NULL,
	"deployment_msg" text
);
--> statement-breakpoint
CREATE TABLE "apps" (
	"id" bigint PRIMARY KEY GENERATED ALWAYS AS IDENTITY (sequence name "apps_id_seq" INCREMENT BY 1 MINVALUE 1 MAXVALUE 9223372036854775807 START WITH 1 CACHE 1),
	"workspace_id" text NOT NULL,
	"path" text NOT NULL,
	"version" bigint NOT NULL,
	"summary" text NOT NULL,
	"policy" text NOT NULL,
	"custom_path" text,
	"draft_only" boolean NOT NULL,
	"extra_perms" text NOT NULL
);
--> statement-breakpoint
CREATE TABLE "raw_apps" (
	"workspace_id" text NOT NULL,
	"path" text NOT NULL,
	"version" bigint NOT NULL,
	"summary" text NOT NULL,
	"value" text NOT NULL,
	"edited_at" timestamp(3) with time zone NOT NULL,
	"extra_perms" text NOT NULL,
	CONSTRAINT "raw_apps_workspace_id_path_pk" PRIMARY KEY("workspace_id","path")
);
--> statement-breakpoint
CREATE TABLE "favorites" (
	"workspace_id" text NOT NULL,
	"email" text NOT NULL,
	"kind" text NOT NULL,
	"path" text NOT NULL,
	CONSTRAINT "favorites_workspace_id_email_kind_path_pk" PRIMARY KEY("workspace_id","email","kind","path")
);
--> statement-breakpoint
CREATE TABLE "folders" (
	"workspace_id" text NOT NULL,
	"name" text NOT NULL,
	"summary" text NOT NULL,
	"owners" text NOT NULL,
	"extra_perms" text NOT NULL,
	"created_by" text NOT NULL,
	"edited_at" timestamp(3) with time zone NOT NULL,
	"deleted" boolean DEFAULT false NOT NULL,
	CONSTRAINT "folders_workspace_id_name_pk" PRIMARY KEY("workspace_id","name")
);
--> statement-breakpoint
CREATE TABLE "group_members" (
	"workspace_id" text NOT NULL,
	"name" text NOT NULL,
	"email" text NOT NULL,
	CONSTRAINT "group_members_workspace_id_name_email_pk" PRIMARY KEY("workspace_id","name","email")
);
--> statement-breakpoint
CREATE TABLE "workspace_groups" (
	"workspace_id" text NOT NULL,
	"name" text NOT NULL,
	"summary" text NOT NULL,
	"extra_perms" text NOT NULL,
	CONSTRAINT "workspace_groups_workspace_id_name_pk" PRIMARY KEY("workspace_id","name")
);
--> statement-breakpoint
CREATE TABLE "instance_group_members" (
	"name" text NOT NULL,
	"email" text NOT NULL,
	CONSTRAINT "instance_group_members_name_email_pk" PRIMARY KEY("name","email")
);
--> statement-breakpoint
CREATE TABLE "instance_groups" (
	"name" text PRIMARY KEY NOT NULL,
	"summary" text NOT NULL,
	"id" text,
	"scim_display_name" text,
	"external_id" text
);
--> statement-breakpoint
CREATE TABLE "handler_calls" (
	"job_id" text NOT NULL,
	"occasion" text NOT NULL,
	"workspace_id" text NOT NULL,
	"schedule_path" text,
	"times" bigint,
	"failed_job" text,
	"created_at" timestamp(3) with time zone NOT NULL,
	"next_at" timestamp(3) with time zone NOT NULL,
	"attempts" bigint NOT NULL,
	CONSTRAINT "handler_calls_job_id_occasion_pk" PRIMARY KEY("job_id","occasion")
);
--> statement-breakpoint
CREATE TABLE "http_triggers" (
	"workspace_id" text NOT NULL,
	"path" text NOT NULL,
	"route_path" text NOT NULL,
	"workspaced_route" boolean NOT NULL,
	"http_method" text NOT NULL,
	"script_path" text NOT NULL,
	"is_flow" boolean NOT NULL,
	"enabled" boolean NOT NULL,
	"summary" text,
	"description" text,
	"request_type" text NOT NULL,
	"authentication_method" text NOT NULL,
	"authentication_resource_path" text,
	"signature" text,
	"raw_string" boolean NOT NULL,
	"wrap_body" boolean NOT NULL,
	"is_static_website" boolean NOT NULL,
	"static_asset_config" text,
	"edited_by" text NOT NULL,
	"edited_at" timestamp(3) with time zone NOT NULL,
	"email" text NOT NULL,
	"extra_perms" text NOT NULL,
	CONSTRAINT "http_triggers_workspace_id_path_pk" PRIMARY KEY("workspace_id","path")
);
--> statement-breakpoint
CREATE TABLE "inputs" (
	"id" text PRIMARY KEY NOT NULL,
	"workspace_id" text NOT NULL,
	"runnable_id" text NOT NULL,
	"runnable_type" text NOT NULL,
	"name" text NOT NULL,
	"args" text NOT NULL,
	"email" text NOT NULL,
	"created_by" text NOT NULL,
	"created_at" timestamp(3) with time zone NOT NULL,
	"is_public" boolean NOT NULL
);
--> statement-breakpoint
CREATE TABLE "license_renewals" (
	"id" bigint PRIMARY KEY GENERATED ALWAYS AS IDENTITY (sequence name "license_renewals_id_seq" INCREMENT BY 1 MINVALUE 1 MAXVALUE 9223372036854775807 START WITH 1 CACHE 1),
	"attempted_at" timestamp(3) with time zone NOT NULL,
	"result" text NOT NULL
);
--> statement-breakpoint
CREATE TABLE "oauth_accounts" (
	"id" bigint PRIMARY KEY GENERATED ALWAYS AS IDENTITY (sequence name "oauth_accounts_id_seq" INCREMENT BY 1 MINVALUE 1 MAXVALUE 9223372036854775807 START WITH 1 CACHE 1),
	"workspace_id" text NOT NULL,
	"client" text NOT NULL,
	"owner" text NOT NULL,
	"refresh_token" text,
	"expires_at" timestamp(3) with time zone NOT NULL,
	"lifetime_s" bigint NOT NULL,
	"refresh_error" text,
	"failed_at" timestamp(3) with time zone,
	"refused" boolean DEFAULT false NOT NULL,
	"lease_holder" text,
	"lease_until" timestamp(3) with time zone,
	"created_at" timestamp(3) with time zone NOT NULL
);
--> statement-breakpoint
CREATE TABLE "oauth_logins" (
	"client" text NOT NULL,
	"subject" text NOT NULL,
	"email" text NOT NULL,
	CONSTRAINT "oauth_logins_client_subject_pk" PRIMARY KEY("client","subject")
);
--> statement-breakpoint
CREATE TABLE "oauth_used_states" (
	"state" text PRIMARY KEY NOT NULL,
	"expires_at" timestamp(3) with time zone NOT NULL
);
--> statement-breakpoint
CREATE TABLE "oidc_keys" (
	"kid" text PRIMARY KEY NOT NULL,
	"public_jwk" text NOT NULL,
	"sealed_key" text NOT NULL,
	"created_at" timestamp(3) with time zone NOT NULL
);
--> statement-breakpoint
CREATE TABLE "schedules" (
	"workspace_id" text NOT NULL,
	"path" text NOT NULL,
	"schedule" text NOT NULL,
	"timezone" text NOT NULL,
	"script_path" text NOT NULL,
	"is_flow" boolean NOT NULL,
	"args" text NOT NULL,
	"enabled" boolean NOT NULL,
	"summary" text,
	"description" text,
	"tag" text,
	"no_flow_overlap" boolean NOT NULL,
	"paused_until" timestamp(3) with time zone,
	"retry" text,
	"cron_version" text,
	"ws_error_handler_muted" boolean NOT NULL,
	"on_failure" text,
	"on_failure_times" bigint,
	"on_failure_exact" boolean,
	"on_failure_extra_args" text,
	"on_recovery" text,
	"on_recovery_times" bigint,
	"on_recovery_extra_args" text,
	"on_success" text,
	"on_success_extra_args" text,
	"edited_by" text NOT NULL,
	"edited_at" timestamp(3) with time zone NOT NULL,
	"email" text NOT NULL,
	"extra_perms" text NOT NULL,
	"error" text,
	"failed_times" bigint DEFAULT 0 NOT NULL,
	"failed_job" text,
	"recovered_times" bigint DEFAULT 0 NOT NULL,
	"next_at" timestamp(3) with time zone,
	CONSTRAINT "schedules_workspace_id_path_pk" PRIMARY KEY("workspace_id","path")
);
--> statement-breakpoint
CREATE TABLE "instance_settings" (
	"key" text PRIMARY KEY NOT NULL,
	"value" text NOT NULL,
	"sealed" boolean NOT NULL,
	"updated_at" timestamp(3) with time zone NOT NULL,
	"updated_by" text NOT NULL
);
--> statement-breakpoint
CREATE TABLE "token_notices" (
	"id" bigint PRIMARY KEY GENERATED ALWAYS AS IDENTITY (sequence name "token_notices_id_seq" INCREMENT BY 1 MINVALUE 1 MAXVALUE 9223372036854775807 START WITH 1 CACHE 1),
	"channel" text NOT NULL,
	"type" text NOT NULL,
	"email" text NOT NULL,
	"token_prefix" text NOT NULL,
	"label" text,
	"workspace_id" text,
	"expiration" timestamp(3) with time zone NOT NULL,
	"created_at" timestamp(3) with time zone NOT NULL,
	"attempts" bigint NOT NULL,
	"next_at" timestamp(3) with time zone NOT NULL
);
--> statement-breakpoint
CREATE TABLE "former_usernames" (
	"workspace_id" text NOT NULL,
	"username" text NOT NULL,
	"email" text NOT NULL,
	CONSTRAINT "former_usernames_workspace_id_username_pk" PRIMARY KEY("workspace_id","username")
);
--> statement-breakpoint
CREATE TABLE "webhook_deliveries" (
	"endpoint_id" text NOT NULL,
	"event_seq" bigint NOT NULL,
	"state" text NOT NULL,
	"attempts" bigint NOT NULL,
	"next_at" timestamp(3) with time zone NOT NULL,
	"status" bigint,
	"error" text,
	"last_attempt_at" timestamp(3) with time zone,
	CONSTRAINT "webhook_deliveries_endpoint_id_event_seq_pk" PRIMARY KEY("endpoint_id","event_seq")
);
--> statement-breakpoint
CREATE TABLE "webhook_endpoints" (
	"id" text PRIMARY KEY NOT NULL,
	"workspace_id" text NOT NULL,
	"url" text NOT NULL,
	"description" text NOT NULL,
	"types" text,
	"is_workspace_webhook" boolean NOT NULL,
	"enabled" boolean NOT NULL,
	"secret" text NOT NULL,
	"previous_secret" text,
	"previous_secret_until" timestamp(3) with time zone,
	"created_by" text NOT NULL,
	"created_at" timestamp(3) with time zone NOT NULL,
	"failing_since" timestamp(3) with time zone
);
--> statement-breakpoint
CREATE TABLE "webhook_events" (
	"seq" bigint PRIMARY KEY GENERATED ALWAYS AS IDENTITY (sequence name "webhook_events_seq_seq" INCREMENT BY 1 MINVALUE 1 MAXVALUE 9223372036854775807 START WITH 1 CACHE 1),
	"id" text NOT NULL,
	"workspace_id" text NOT NULL,
	"type" text NOT NULL,
	"payload" text NOT NULL,
	"created_at" timestamp(3) with time zone NOT NULL
);
--> statement-breakpoint
CREATE TABLE "websocket_triggers" (
	"workspace_id" text NOT NULL,
	"path" text NOT NULL,
	"script_path" text NOT NULL,
	"is_flow" boolean NOT NULL,
	"url" text NOT NULL,
	"url_runnable_args" text,
	"enabled" boolean NOT NULL,
	"summary" text,
	"filters" text NOT NULL,
	"initial_messages" text NOT NULL,
	"can_return_message" boolean NOT NULL,
	"can_return_error_result" boolean NOT NULL,
	"edited_by" text NOT NULL,
	"edited_at" timestamp(3) with time zone NOT NULL,
	"email" text NOT NULL,
	"extra_perms" text NOT NULL,
	"error" text,
	"server_id" text,
	"last_server_ping" timestamp(3) with time zone,
	CONSTRAINT "websocket_triggers_workspace_id_path_pk" PRIMARY KEY("workspace_id","path")
);
--> statement-breakpoint
CREATE TABLE "worker_groups" (
	"name" text PRIMARY KEY NOT NULL,
	"config" text NOT NULL
);
--> statement-breakpoint
CREATE TABLE "workers" (
	"name" text PRIMARY KEY NOT NULL,
	"instance" text NOT NULL,
	"ip" text NOT NULL,
	"worker_group" text NOT NULL,
	"version" text NOT NULL,
	"tags" text,
	"slots" bigint NOT NULL,
	"started_at" timestamp(3) with time zone NOT NULL,
	"last_ping" timestamp(3) with time zone NOT NULL,
	"jobs_executed" bigint NOT NULL,
	"last_job" text,
	"occupancy" text NOT NULL,
	"vcpus" double precision NOT NULL,
	"memory" text NOT NULL
);
--> statement-breakpoint
CREATE TABLE "workspace_environment" (
	"workspace_id" text NOT NULL,
	"name" text NOT NULL,
	"value" text NOT NULL,
	CONSTRAINT "workspace_environment_workspace_id_name_pk" PRIMARY KEY("workspace_id","name")
);
--> statement-breakpoint
CREATE TABLE "workspace_invites" (
	"workspace_id" text NOT NULL,
	"email" text NOT NULL,
	"is_admin" boolean NOT NULL,
	"operator" boolean NOT NULL,
	"created_at" timestamp(3) with time zone NOT NULL,
	CONSTRAINT "workspace_invites_workspace_id_email_pk" PRIMARY KEY("workspace_id","email")
);
--> statement-breakpoint
CREATE TABLE "workspace_settings" (
	"workspace_id" text PRIMARY KEY NOT NULL,
	"auto_invite_domain" text,
	"settings" text NOT NULL
);
--> statement-breakpoint
CREATE TABLE "workspace_usage" (
	"workspace_id" text NOT NULL,
	"email" text NOT NULL,
	"month" text NOT NULL,
	"jobs" bigint NOT NULL,
	"executions" bigint NOT NULL,
	CONSTRAINT "workspace_usage_workspace_id_month_email_pk" PRIMARY KEY("workspace_id","month","email")
);
--> statement-breakpoint
ALTER TABLE "scripts" ADD COLUMN "memory_mb" bigint;--> statement-breakpoint
ALTER TABLE "tokens" ADD COLUMN "notified_at" timestamp(3) with time zone;--> statement-breakpoint
ALTER TABLE "users" ADD COLUMN "tutorial_progress" bigint DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE "workspaces" ADD COLUMN "storage_folder" text;--> statement-breakpoint
ALTER TABLE "jobs" ADD COLUMN "request_id" text;--> statement-breakpoint
ALTER TABLE "jobs" ADD COLUMN "isolation" text;--> statement-breakpoint
CREATE INDEX "critical_alerts_by_key" ON "critical_alerts" USING btree ("key","acknowledged");--> statement-breakpoint
CREATE INDEX "critical_alerts_untold" ON "critical_alerts" USING btree ("next_try_at") WHERE next_try_at IS NOT NULL;--> statement-breakpoint
CREATE INDEX "app_versions_by_app" ON "app_versions" USING btree ("app_id","id");--> statement-breakpoint
CREATE UNIQUE INDEX "apps_by_path" ON "apps" USING btree ("workspace_id","path");--> statement-breakpoint
CREATE UNIQUE INDEX "apps_by_custom_path" ON "apps" USING btree ("custom_path");--> statement-breakpoint
CREATE INDEX "group_members_by_email" ON "group_members" USING btree ("workspace_id","email");--> statement-breakpoint
CREATE INDEX "instance_group_members_by_email" ON "instance_group_members" USING btree ("email");--> statement-breakpoint
CREATE INDEX "handler_calls_due" ON "handler_calls" USING btree ("next_at");--> statement-breakpoint
CREATE INDEX "inputs_by_runnable" ON "inputs" USING btree ("workspace_id","runnable_id","created_at");--> statement-breakpoint
CREATE INDEX "oauth_accounts_by_workspace" ON "oauth_accounts" USING btree ("workspace_id","id");--> statement-breakpoint
CREATE INDEX "oauth_logins_by_email" ON "oauth_logins" USING btree ("email");--> statement-breakpoint
CREATE INDEX "oauth_used_states_by_expiry" ON "oauth_used_states" USING btree ("expires_at");--> statement-breakpoint
CREATE INDEX "schedules_due" ON "schedules" USING btree ("next_at") WHERE next_at IS NOT NULL;--> statement-breakpoint
CREATE INDEX "token_notices_by_next" ON "token_notices" USING btree ("next_at");--> statement-breakpoint
CREATE INDEX "webhook_deliveries_due" ON "webhook_deliveries" USING btree ("endpoint_id","next_at","event_seq") WHERE state = 'pending';--> statement-breakpoint
CREATE INDEX "webhook_endpoints_by_workspace" ON "webhook_endpoints" USING btree ("workspace_id");--> statement-breakpoint
CREATE INDEX "workers_last_ping" ON "workers" USING btree ("last_ping");--> statement-breakpoint
CREATE INDEX "workspace_settings_by_domain" ON "workspace_settings" USING btree ("auto_invite_domain");--> statement-breakpoint
CREATE INDEX "workspace_usage_by_email" ON "workspace_usage" USING btree ("email","month");--> statement-breakpoint
CREATE INDEX "scripts_by_workspace" ON "scripts" USING btree ("workspace_id","seq");--> statement-breakpoint
CREATE INDEX "scripts_shared" ON "scripts" USING btree ("workspace_id","seq") WHERE extra_perms <> '{}';--> statement-breakpoint
CREATE INDEX "tokens_by_expiration" ON "tokens" USING btree ("expiration");--> statement-breakpoint
CREATE INDEX "workspace_members_by_email" ON "workspace_members" USING btree ("email");