/** Known OAuth providers, which can be configured with an id and a secret only. */

/** Endpoints and defaults of a provider. With an issuer, endpoints are found by discovery. */
export interface Provider {
  issuer?: string | undefined;
  auth_url?: string | undefined;
  token_url?: string | undefined;
  userinfo_url?: string | undefined;
  /** Lists the user's addresses with `primary` and `verified`, for providers whose profile lacks them. */
  emails_url?: string | undefined;
  revocation_url?: string | undefined;
  scopes?: string[] | undefined;
  extra_params?: Record<string, string> | undefined;
  /** Whether to send the client secret in the body instead of the header (RFC 6749 §2.3.1). */
  req_body_auth?: boolean | undefined;
}

interface WellKnown {
  display_name: string;
  login?: Provider;
  connect?: Provider;
}

const OPENID_SCOPES = ["openid", "email", "profile"];

const google: Provider = { issuer: "https://accounts.google.com" };
/** Without these parameters, Google issues a refresh token at the first consent only. */
const offline = { access_type: "offline", prompt: "consent" };
const createGoogleApi = (name: string) => ({
  ...google,
  extra_params: offline,
  scopes: [`https://www.googleapis.com/auth/${name}`],
});

const github: Provider = {
  auth_url: "https://github.com/login/oauth/authorize",
  token_url: "https://github.com/login/oauth/access_token",
  userinfo_url: "https://api.github.com/user",
  emails_url: "https://api.github.com/user/emails",
};
const gitlab: Provider = { issuer: "https://gitlab.com" };
const bitbucket: Provider = {
  auth_url: "https://bitbucket.org/site/oauth2/authorize",
  token_url: "https://bitbucket.org/site/oauth2/access_token",
};
const discord: Provider = {
  auth_url: "https://discord.com/oauth2/authorize",
  token_url: "https://discord.com/api/oauth2/token",
  userinfo_url: "https://discord.com/api/users/@me",
  revocation_url: "https://discord.com/api/oauth2/token/revoke",
};
const microsoft: Provider = { issuer: "https://login.microsoftonline.com/{tenant}/v2.0" };

export const WELL_KNOWN_PROVIDERS: Record<string, WellKnown> = {
  github: {
    display_name: "GitHub",
    login: { ...github, scopes: ["read:user", "user:email"] },
    connect: { ...github, scopes: ["repo", "user"] },
  },
  gitlab: {
    display_name: "GitLab",
    login: { ...gitlab, scopes: OPENID_SCOPES },
    connect: { ...gitlab, scopes: ["api", "openid"] },
  },
  google: {
    display_name: "Google",
    login: { ...google, scopes: OPENID_SCOPES },
    connect: { ...google, scopes: OPENID_SCOPES, extra_params: offline },
  },
  gmail: { display_name: "Gmail", connect: createGoogleApi("gmail.send") },
  gcal: { display_name: "Google Calendar", connect: createGoogleApi("calendar.events") },
  gdrive: { display_name: "Google Drive", connect: createGoogleApi("drive") },
  gsheets: { display_name: "Google Sheets", connect: createGoogleApi("spreadsheets") },
  microsoft: {
    display_name: "Microsoft",
    login: { ...microsoft, scopes: OPENID_SCOPES },
    connect: { ...microsoft, scopes: [...OPENID_SCOPES, "offline_access", "User.Read"] },
  },
  discord: {
    display_name: "Discord",
    login: { ...discord, scopes: ["identify", "email"] },
    connect: { ...discord, scopes: ["identify"] },
  },
  bitbucket: { display_name: "Bitbucket", connect: { ...bitbucket, scopes: ["repository"] } },
  linear: {
    display_name: "Linear",
    connect: {
      auth_url: "https://linear.app/oauth/authorize",
      token_url: "https://api.linear.app/oauth/token",
      revocation_url: "https://api.linear.app/oauth/revoke",
      scopes: ["read", "write"],
      req_body_auth: true,
    },
  },
  chat: {
    display_name: "Chat",
    connect: {
      auth_url: "https://slack.com/oauth/v2/authorize",
      token_url: "https://slack.com/api/oauth.v2.access",
      scopes: ["channels:join", "chat:write", "chat:write.public", "commands"],
    },
  },
};
