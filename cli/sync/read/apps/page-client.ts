/**
 * The module `./wmill` of an app of code: through it a page asks the window that displays it to run what is in
 * `backend/`. The messages are those of existing clients.
 */
export const PAGE_CLIENT = `
const asked = new Map();

function ask(type, fields, onUpdate) {
  const reqId = Math.random().toString(36).slice(2);
  return new Promise((resolve, reject) => {
    asked.set(reqId, { resolve, reject, onUpdate });
    parent.postMessage({ ...fields, type, reqId }, "*");
  });
}

const createCallers = (type) =>
  new Proxy({}, { get: (_, runnable_id) => (v) => ask(type, { runnable_id, v }) });

/** Runs a runnable and resolves with its result. */
export const backend = createCallers("backend");
/** Starts a runnable and resolves with the id of its job. */
export const backendAsync = createCallers("backendAsync");
export const waitJob = (jobId) => ask("waitJob", { jobId });
export const getJob = (jobId) => ask("getJob", { jobId });
/** Calls back with each part of a job's stream and resolves with its result. */
export const streamJob = (jobId, onUpdate) => ask("streamJob", { jobId }, onUpdate);

addEventListener("message", ({ data }) => {
  const request = asked.get(data?.reqId);
  if (!request) return;
  const { type, result, error, new_result_stream, stream_offset } = data;
  if (type === "streamJobUpdate") request.onUpdate?.({ new_result_stream, stream_offset });
  if (!type.endsWith("Res")) return;
  asked.delete(data.reqId);
  if (error) request.reject(new Error(result?.stack ?? result?.message ?? "the job failed"));
  else request.resolve(result);
});
`;
