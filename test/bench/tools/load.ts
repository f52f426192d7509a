/**
 * The load generator, in a process of its own: a number of clients, each with one request in flight, through `fetch` as
 * an SDK would do it.
 *
 *   bun load.ts '{"url":…,"connections":64,"requests":20000,"body":"{}","headers":{…}}'
 */
export interface Plan {
  url: string;
  connections: number;
  requests: number;
  body: string;
  headers?: Record<string, string>;
}

export interface Report {
  requests: number;
  /**
   * When the first request was sent, in milliseconds since 1970, so that the generator's start is not measured.
   */
  began_at: number;
  /** Responses with a status other than 2xx. */
  failures: number;
  per_second: number;
  p50_ms: number;
  p99_ms: number;
}

if (import.meta.main) {
  const plan = JSON.parse(process.argv[2]!) as Plan;
  const latencies = new Float64Array(plan.requests);
  const init = {
    method: "POST",
    headers: { "content-type": "application/json", ...plan.headers },
    body: plan.body,
  };
  let sent = 0;
  let done = 0;
  let failures = 0;
  const client = async () => {
    while (sent < plan.requests) {
      sent++;
      const began = performance.now();
      const response = await fetch(plan.url, init);
      await response.text();
      latencies[done++] = performance.now() - began;
      if (!response.ok) failures++;
    }
  };
  const began_at = Date.now();
  const began = performance.now();
  await Promise.all(Array.from({ length: plan.connections }, client));
  const per_second = (done * 1000) / (performance.now() - began);
  latencies.sort();
  const report: Report = {
    requests: done,
    began_at,
    failures,
    per_second,
    p50_ms: latencies[done >> 1]!,
    p99_ms: latencies[Math.floor(done * 0.99)]!,
  };
  process.stdout.write(JSON.stringify(report));
}
