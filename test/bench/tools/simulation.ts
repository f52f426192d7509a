/**
 * Simulation of `svc` on larger machines: a closed queueing network with measured costs. Clients call
 * synchronous webhooks one after the other. A call visits its server's thread, the database, a core that runs
 * the script, the thread again, and the database again. Commits that wait for the log's flush share the next
 * one.
 */

/** Measured costs of one job, in microseconds of processor time, and of one flush. */
export interface JobCosts {
  /** Time on the server's thread. */
  server_us: number;
  /** Time in the script's process, including its code. */
  script_us: number;
  /** Time in the database server's processes; 0 if the database is embedded. */
  database_us: number;
  /** One flush of the log, in microseconds. */
  flush_us: number;
}

/** Each server is one `svc serve` on its own machine; the database has a machine of the same size. */
export interface Cluster {
  servers: number;
  cores: number;
  clients_per_server: number;
}

export interface Prediction {
  per_second: number;
  /** Share of the time that each resource was in use. */
  use: Record<Resource, number>;
  /** The first resource that is saturated. */
  limit: Resource;
}

export type Resource = "server thread" | "script cores" | "database cores" | "log flushes";

const PROCESSORS: Resource[] = ["server thread", "script cores", "database cores"];
/** Utilization from which a resource counts as saturated. */
const USED_UP = 0.9;

/** Jobs until the figures are steady, and jobs that are counted. */
const WARM_UP = 2_000;
const COUNTED = 20_000;

interface Station {
  resource: Resource;
  /** Waiting requests, in order of arrival. */
  waiting: { service_us: number; then: () => void }[];
  free: number;
  busy_us: number;
}

/** A clock with scheduled events; a binary heap would be faster, but this is fast enough. */
class Agenda {
  now = 0;
  #events: { at: number; run: () => void }[] = [];

  after(delay: number, run: () => void): void {
    const at = this.now + delay;
    let low = 0;
    let high = this.#events.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.#events[middle]!.at > at) low = middle + 1;
      else high = middle;
    }
    this.#events.splice(low, 0, { at, run });
  }

  /** Executes the next event. */
  step(): void {
    const { at, run } = this.#events.pop()!;
    this.now = at;
    run();
  }
}

/** Creates a generator of numbers between 0 and 1, the same sequence in each run. */
function createRandom(): () => number {
  let state = 42;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return (state + 1) / 4_294_967_297;
  };
}

export function simulate(costs: JobCosts, { servers, cores, clients_per_server }: Cluster): Prediction {
  const agenda = new Agenda();
  const random = createRandom();
  const varied = (mean: number) => -Math.log(random()) * mean;
  const createStation = (resource: Resource, free: number): Station => ({
    resource,
    waiting: [],
    free,
    busy_us: 0,
  });
  const isEmbedded = costs.database_us === 0;
  const threads = Array.from({ length: servers }, () => createStation("server thread", 1));
  // The server's thread occupies one core of the machine.
  const scripts = Array.from({ length: servers }, () => createStation("script cores", cores - 1));
  const database = createStation("database cores", cores);
  const flushes = { waiting: [] as (() => void)[], isBusy: false, busy_us: 0 };
  let done = 0;
  let counted_from = 0;

  function visit(station: Station, mean_us: number, then: () => void): void {
    station.waiting.push({ service_us: varied(mean_us), then });
    serve(station);
  }

  function serve(station: Station): void {
    while (station.free > 0 && station.waiting.length > 0) {
      const { service_us, then } = station.waiting.shift()!;
      station.free--;
      station.busy_us += service_us;
      agenda.after(service_us, () => {
        station.free++;
        then();
        serve(station);
      });
    }
  }

  function flush(then: () => void): void {
    flushes.waiting.push(then);
    beginFlush();
  }

  function beginFlush(): void {
    if (flushes.isBusy || flushes.waiting.length === 0) return;
    const together = flushes.waiting.splice(0);
    flushes.isBusy = true;
    flushes.busy_us += costs.flush_us;
    agenda.after(costs.flush_us, () => {
      flushes.isBusy = false;
      for (const then of together) then();
      beginFlush();
    });
  }

  function commit(then: () => void): void {
    if (isEmbedded) flush(then);
    else visit(database, costs.database_us / 2, () => flush(then));
  }

  function call(server: number): void {
    const half = costs.server_us / 2;
    visit(threads[server]!, half, () =>
      commit(() =>
        visit(scripts[server]!, costs.script_us, () =>
          visit(threads[server]!, half, () =>
            commit(() => {
              done++;
              call(server);
            }),
          ),
        ),
      ),
    );
  }

  const stations = [...threads, ...scripts, database];
  for (let server = 0; server < servers; server++) {
    for (let client = 0; client < clients_per_server; client++) call(server);
  }
  while (done < WARM_UP) agenda.step();
  counted_from = agenda.now;
  for (const station of stations) station.busy_us = 0;
  flushes.busy_us = 0;
  while (done < WARM_UP + COUNTED) agenda.step();
  const took = agenda.now - counted_from;
  const busy = (resource: Resource) =>
    stations.filter((each) => each.resource === resource).reduce((sum, { busy_us }) => sum + busy_us, 0);
  const use: Record<Resource, number> = {
    "server thread": busy("server thread") / took / servers,
    "script cores": busy("script cores") / took / servers / (cores - 1),
    "database cores": isEmbedded ? 0 : busy("database cores") / took / cores,
    "log flushes": flushes.busy_us / took,
  };
  const [busiest] = PROCESSORS.toSorted((one, other) => use[other] - use[one]);
  // Sequential flushes are not a limit yet: the more commits wait, the more share the next.
  const limit = use[busiest!] >= USED_UP ? busiest! : "log flushes";
  return { per_second: (COUNTED * 1e6) / took, use, limit };
}
