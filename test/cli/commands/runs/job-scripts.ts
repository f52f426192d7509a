/** Scripts of jobs that succeed, fail and take long. */

export const SUCCEEDING_SCRIPT = `export function main(name = "Ann") { console.log("greeting"); return { hello: name }; }`;
export const FAILING_SCRIPT = `export function main() { console.log("so far"); throw new TypeError("no tea"); }`;
export const SLOW = `export async function main() { console.log("at work"); await Bun.sleep(600_000); }`;
