/** Renders Markdown: HTML in it is not interpreted, and no external content is loaded. Loaded lazily. */
import { Anchor } from "@mantine/core";
import MarkdownToJsx from "markdown-to-jsx/react";
import type { ReactNode } from "react";

/** URL schemes of links; they open only when clicked. */
const LINK = /^(https?:|mailto:)/i;
const PICTURE = /^data:image\/(png|jpeg|gif|webp);/i;

function Link({ href = "", children }: { href?: string; children?: ReactNode }) {
  return LINK.test(href) ? (
    <Anchor underline="always" href={href} target="_blank" rel="noopener noreferrer nofollow">
      {children}
    </Anchor>
  ) : (
    <span>{children}</span>
  );
}

function Picture({ src = "", alt = "" }: { src?: string; alt?: string }) {
  if (PICTURE.test(src)) return <img src={src} alt={alt} />;
  return <Link href={src}>{alt || src}</Link>;
}

/** Returns the component of a heading, one level below those of the page. */
const heading = (level: number) =>
  function Heading({ children }: { children?: ReactNode }) {
    return (
      <p className="markdown-heading" role="heading" aria-level={level}>
        {children}
      </p>
    );
  };

const OPTIONS = {
  disableParsingRawHTML: true,
  // A bare URL within HTML would become a link that includes its quotes.
  disableAutoLink: true,
  wrapper: "div",
  forceWrapper: true,
  overrides: {
    a: Link,
    img: Picture,
    h1: heading(3),
    h2: heading(4),
    h3: heading(5),
    h4: heading(6),
    h5: heading(6),
    h6: heading(6),
  },
} as const;

export default function Markdown({ text }: { text: string }) {
  return (
    <div className="markdown">
      <MarkdownToJsx options={OPTIONS}>{text}</MarkdownToJsx>
    </div>
  );
}
