// The script determines the HTTP response of its synchronous webhook.
export function main(name = "somebody") {
  return {
    svc_status_code: 418,
    svc_headers: { "x-tea": "earl grey" },
    svc_content_type: "text/plain; charset=utf-8",
    result: `Sorry ${name}, I am a teapot.\n`,
  };
}
