/** Prometheus text exposition format 0.0.4. */

/** One sample of a metric. */
export interface Sample {
  value: number;
  labels?: Record<string, string | number>;
  /** Sample name, if it differs from the metric's: `…_bucket`, `…_sum`, `…_count`. */
  metricName?: string;
}

export interface Metric {
  name: string;
  type: "counter" | "gauge" | "histogram";
  help: string;
  samples: readonly Sample[];
}

export const EXPOSITION_CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8";

export function toExposition(metrics: readonly Metric[]): string {
  return metrics
    .map(({ name, type, help, samples }) => {
      const lines = samples.map((figure) => formatSample(figure, name));
      return [`# HELP ${name} ${escapeText(help)}`, `# TYPE ${name} ${type}`, ...lines, ""].join("\n");
    })
    .join("\n");
}

function formatSample({ value, labels = {}, metricName }: Sample, name: string): string {
  const said = Object.entries(labels).map(
    ([label, text]) => `${label}="${escapeText(String(text)).replaceAll('"', '\\"')}"`,
  );
  const number = Number.isFinite(value) ? value : Number.isNaN(value) ? "NaN" : value > 0 ? "+Inf" : "-Inf";
  return `${metricName ?? name}${said.length > 0 ? `{${said.join(",")}}` : ""} ${number}`;
}

function escapeText(text: string): string {
  return text.replaceAll("\\", "\\\\").replaceAll("\n", "\\n");
}
