/** Size of the files that browsers load, compressed as transferred. */
import { expect, test } from "bun:test";
import { useSite } from "./site.ts";

const site = useSite();

const KB = 1_000;

/** Names and sizes in bytes (gzip) of the files that a page loads. */
async function loaded(address: string, shows: string) {
  await using seen = await site.visit();
  const names = new Set<string>();
  seen.page.on("request", (request) => {
    const { pathname } = new URL(request.url());
    if (pathname.startsWith("/assets/")) names.add(pathname);
  });
  await seen.open(address);
  await seen.page.getByText(shows).first().waitFor();
  const sizes = [...names].map(async (name) => {
    const response = await fetch(site.serving.url + name, {
      headers: { "accept-encoding": "gzip" },
      decompress: false,
    });
    expect(response.headers.get("content-encoding")).toBe("gzip");
    expect(response.headers.get("cache-control")).toBe("public, max-age=31536000, immutable");
    return (await response.bytes()).length;
  });
  return { bytes: (await Promise.all(sizes)).reduce((sum, size) => sum + size, 0), names };
}

test("the first load stays small and contains no large part", async () => {
  const { bytes: home, names } = await loaded("w/acme", "Nightly report");
  const { bytes: runs } = await loaded("w/acme/runs", "Script or flow");
  const { bytes: run } = await loaded(`w/acme/runs/${site.filled.failed}`, "no such customer");
  const { bytes: form } = await loaded("w/acme/begin/script/f/finance/refund", "What the customer said");
  console.log(`kB by gzip: Home ${home / KB}, Runs ${runs / KB}, a run ${run / KB}, a form ${form / KB}`);
  expect(home).toBeLessThan(300 * KB);
  expect(runs).toBeLessThan(300 * KB);
  expect(run).toBeLessThan(300 * KB);
  expect([...names].filter((name) => name.includes("Form"))).toEqual([]);
});

test("files are sent compressed, and uncompressed to clients without compression", async () => {
  const page = await (await fetch(site.serving.url, { headers: { accept: "text/html" } })).text();
  const [, script] = /src="\.(\/assets\/main[^"]+)"/.exec(page)!;
  const get = (encoding: string) =>
    fetch(site.serving.url + script, { headers: { "accept-encoding": encoding } });
  const texts = await Promise.all(["br", "gzip", "identity"].map(async (each) => (await get(each)).text()));
  expect(new Set(texts).size).toBe(1);
  expect((await get("br, gzip")).headers.get("content-encoding")).toBe("br");
  expect((await get("identity")).headers.get("content-encoding")).toBeNull();
});
