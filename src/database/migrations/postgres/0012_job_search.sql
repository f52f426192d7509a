CREATE TABLE "job_search" (
	"id" bigint PRIMARY KEY GENERATED ALWAYS AS IDENTITY (sequence name "job_search_id_seq" INCREMENT BY 1 MINVALUE 1 MAXVALUE 9223372036854775807 START WITH 1 CACHE 1),
	"job_id" text NOT NULL,
	"words" "tsvector" NOT NULL
);
--> statement-breakpoint
CREATE TABLE "job_search_progress" (
	"id" bigint PRIMARY KEY NOT NULL,
	"completed_at" timestamp(3) with time zone NOT NULL,
	"job_id" text NOT NULL,
	"oldest" timestamp(3) with time zone
);
--> statement-breakpoint
CREATE UNIQUE INDEX "job_search_by_job" ON "job_search" USING btree ("job_id");--> statement-breakpoint
CREATE INDEX "job_search_words" ON "job_search" USING gin ("words");
