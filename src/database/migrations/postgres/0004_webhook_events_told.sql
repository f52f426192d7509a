ALTER TABLE "webhook_events" ADD COLUMN "told" text;--> statement-breakpoint
CREATE INDEX "webhook_events_new" ON "webhook_events" USING btree ("seq") WHERE told IS NOT NULL;