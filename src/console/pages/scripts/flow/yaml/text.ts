/** A flow as text. */
import { stringify } from "yaml";

interface Flow {
  summary: string;
  description?: string | null;
  value: unknown;
  schema?: unknown;
}

/** The parts of a flow that a deployment changes, as the command line tool keeps them in a file. */
export const asYaml = ({ summary, description, value, schema }: Flow): string =>
  stringify({ summary, description: description ?? "", value, schema }, { lineWidth: 0 });
