/**
 * Kinds of triggers that the service stores for existing clients, but does not run: nothing here connects to Kafka, a
 * mail server or a queue. Everything about a kind (operations, scopes, grants, archive, counts, `svc push`) follows
 * from its line here.
 */

export interface StoredKind {
  /** The kind in URLs (`kafka_triggers`), file names (`.kafka_trigger.yaml`) and counts (`kafka_count`). */
  kind: string;
  /** The kind in texts. */
  one: string;
  /** The kind in names of operations and records: `createKafkaTrigger`. */
  name: string;
}

export const STORED_KINDS = [
  { kind: "kafka", one: "a Kafka trigger", name: "Kafka" },
  { kind: "nats", one: "a NATS trigger", name: "Nats" },
  { kind: "postgres", one: "a PostgreSQL trigger", name: "Postgres" },
  { kind: "mqtt", one: "an MQTT trigger", name: "Mqtt" },
  { kind: "amqp", one: "an AMQP trigger", name: "Amqp" },
  { kind: "sqs", one: "an SQS trigger", name: "Sqs" },
  { kind: "gcp", one: "a Google Pub/Sub trigger", name: "Gcp" },
  { kind: "azure", one: "an Azure Event Grid trigger", name: "Azure" },
  { kind: "email", one: "an e-mail trigger", name: "Email" },
] as const satisfies readonly StoredKind[];

export type StoredKindName = (typeof STORED_KINDS)[number]["kind"];

/** Says that triggers of a kind start nothing. */
export const describeNotRun = ({ one }: StoredKind): string =>
  `stored; svc does not run ${one.slice(one.indexOf(" ") + 1)}s`;
