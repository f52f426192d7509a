import { Link } from "wouter";

/** Name of an item as a link, with its path below a summary. */
export function ItemName({
  href,
  path,
  summary,
}: {
  href: string;
  path: string;
  summary?: string | null | undefined;
}) {
  return (
    <Link href={href}>
      <div className="clip" style={{ fontWeight: 500 }}>
        {summary || path}
      </div>
      {summary && <div className="clip quiet mono">{path}</div>}
    </Link>
  );
}
