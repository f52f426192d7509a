import { useEffect, useRef, useState } from "react";
import { toServerPath } from "../../../../api/base.ts";

/** Renders HTML results in a sandboxed frame. */
export function HtmlFrame({ html }: { html: string }) {
  const frame = useRef<HTMLIFrameElement>(null);
  const [height, setHeight] = useState(160);
  useEffect(() => {
    function hear({ source, data }: MessageEvent): void {
      if (source !== frame.current?.contentWindow) return;
      if (data === "ready") frame.current?.contentWindow?.postMessage(html, "*");
      else if (typeof data === "number") setHeight(Math.min(Math.max(data, 60), 700));
    }
    addEventListener("message", hear);
    // The frame may have sent `ready` before the listener was added.
    frame.current?.contentWindow?.postMessage(html, "*");
    return () => removeEventListener("message", hear);
  }, [html]);
  return (
    <iframe
      ref={frame}
      className="frame-result"
      title="Result as a page"
      sandbox="allow-scripts"
      src={toServerPath("assets/frame.html")}
      style={{ height }}
    />
  );
}
