/** Converts a flow to text. */
import { stringify } from "yaml";

interface Flow {
  summary: string;
  description?: string | null;
  value: unknown;
  schema?: unknown;
}

/** Returns the parts of a flow that a deployment changes, in the form of the CLI's files. */
export const formatYaml = ({ summary, description, value, schema }: Flow): string =>
  stringify({ summary, description: description ?? "", value, schema }, { lineWidth: 0 });
