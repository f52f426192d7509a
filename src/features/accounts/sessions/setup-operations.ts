import { InvalidInput } from "../../../lib/errors.ts";
import { parseSchemaJson } from "../../../lib/json/json.ts";
import * as z from "../../../lib/zod/z.ts";
import { parseWithSchema, readText, requireNoNul } from "../../../platform/http/input.ts";
import { type Operation, operation, responds } from "../../../platform/http/operation.ts";
import { createTextResponse } from "./cookie-response.ts";
import { createLoginCookies } from "./cookies.ts";
import { completeSetup, renderSetupDonePage, renderSetupPage, requireSetupToken } from "./setup.ts";

const SetupForm = z.object({
  email: z.string(),
  password: z.string(),
  password_again: z.string().optional().describe("if given, it must be equal to `password`"),
});

export const getSetup = operation({
  name: "getSetupPage",
  method: "GET",
  path: "/setup/{token}",
  access: "anyone",
  scope: false,
  summary: "Show the page that creates the first admin account",
  responds: responds.raw("text/html", "a form"),
  run: (ctx, { token }) => {
    requireSetupToken(ctx.app, token);
    // The console has its own setup page; the relative address works below any path prefix.
    const { app, request } = ctx;
    if (app.config.console === "on" && request.headers.get("accept")?.includes("text/html")) {
      return new Response(null, { status: 302, headers: { location: `../../setup/${token}` } });
    }
    return renderSetupPage(`/api/setup/${token}`);
  },
});

export const postSetup = operation({
  name: "completeSetup",
  method: "POST",
  path: "/setup/{token}",
  access: "anyone",
  scope: false,
  summary: "Create the first admin account; the link then becomes invalid",
  reads: { "application/x-www-form-urlencoded": SetupForm, "application/json": SetupForm },
  responds: responds.raw("text/plain", "session token, also as cookie; a page for browsers"),
  audit: { operation: "users.create", action_kind: "Create" },
  run: async (ctx, { token }) => {
    const form = await readForm(ctx.request);
    if (form.password_again !== undefined && form.password_again !== form.password) {
      throw new InvalidInput("the two passwords differ: go back, and type the same one twice");
    }
    const session = await completeSetup(ctx, token, form);
    const cookies = createLoginCookies(ctx.app, ctx.request, session.email, session);
    if (!ctx.request.headers.get("accept")?.includes("text/html")) {
      return createTextResponse(session.token, cookies, 201);
    }
    const page = renderSetupDonePage(ctx.app.urls.base, session.email);
    for (const cookie of cookies) page.headers.append("set-cookie", cookie);
    return page;
  },
});

/** Reads a browser's form or a program's JSON body. */
async function readForm(request: Request): Promise<z.output<typeof SetupForm>> {
  const text = await readText(request, 10_000);
  const parse = (fields: unknown) => {
    requireNoNul("body", fields);
    return parseWithSchema("body", SetupForm, fields) as z.output<typeof SetupForm>;
  };
  if (request.headers.get("content-type")?.startsWith("application/x-www-form-urlencoded")) {
    return parse(Object.fromEntries(new URLSearchParams(text)));
  }
  try {
    return parse(parseSchemaJson(text));
  } catch (cause) {
    if (cause instanceof SyntaxError) throw new InvalidInput(`the body is not JSON: ${cause.message}`);
    throw cause;
  }
}

export const setupOperations: Operation[] = [getSetup, postSetup];
