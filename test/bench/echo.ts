/** The floor: a bare Bun.serve that parses JSON and sends it back. Prints its port. */
const server = Bun.serve({
  port: 0,
  hostname: "127.0.0.1",
  fetch: async (request) => Response.json(await request.json()),
});
process.stdout.write(`${server.port}\n`);
