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
CREATE INDEX "webhook_deliveries_by_event" ON "webhook_deliveries" USING btree ("event_seq");--> statement-breakpoint
CREATE INDEX "webhook_deliveries_pending" ON "webhook_deliveries" USING btree ("next_at") WHERE state = 'pending';--> statement-breakpoint
CREATE INDEX "webhook_endpoints_by_workspace" ON "webhook_endpoints" USING btree ("workspace_id");--> statement-breakpoint
CREATE INDEX "webhook_events_by_age" ON "webhook_events" USING btree ("created_at");