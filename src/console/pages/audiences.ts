/** Users for whom a page is made; other users see a notice instead. */
import type { May } from "../api/session.ts";

export interface Audience {
  includes: (may: May) => boolean;
  /** Heading and explanation for users who are not in it. */
  title: string;
  about: string;
}

export const AUTHORS: Audience = {
  includes: (may) => may("POST /w/{workspace}/scripts/create", "author"),
  title: "Operators cannot change this",
  about:
    "You can run scripts and flows, and see their runs. To create or change them, ask an admin of the workspace to make you a developer.",
};

export const WORKSPACE_ADMINS: Audience = {
  includes: (may) => may("GET /w/{workspace}/audit/list", "admin"),
  title: "This page is for admins of the workspace",
  about: "To see it, ask an admin of the workspace to make you one.",
};

export const INSTANCE_ADMINS: Audience = {
  includes: (may) => may("GET /settings/list_global", "devops"),
  title: "This page is for admins of the server",
  about: "It shows the settings, accounts and health of the server. To see it, ask a super admin.",
};
