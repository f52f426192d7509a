import { type Parameter, type ScriptAnalysis, SyntaxFault, toArgumentsSchema } from "../types.ts";
import { parseDatabaseParameter, parseDeclaredParameters } from "./comments.ts";
import { type SqlDialect, type SqlStatement, StatementFault, splitStatements } from "./statements.ts";

/**
 * Analyses a query: its comments declare the arguments; the statements are left to the database.
 * @throws SyntaxFault
 */
export function analyseSql(content: string, dialect: SqlDialect): ScriptAnalysis {
  const declared = parseDeclaredParameters(content, dialect);
  const statements = parseStatements(content, dialect);
  if (dialect === "postgresql") declared.push(...createInferredParameters(statements, declared));
  requireDeclaredPlaceholders(statements, declared);
  const database = parseDatabaseParameter(content, {
    name: "database",
    optional: dialect === "sqlite",
    schema:
      dialect === "sqlite"
        ? {
            description:
              "A file of the workspace's storage (s3:///shop/orders.db, or s3://<storage>/…) or of the job (./scratch.db); none: a database that lives as long as the run",
          }
        : { type: "object", format: `resource-${dialect}` },
  });
  const parameters = [database, ...declared];
  return {
    signature: { parameters, has_main: true, preprocessor: undefined },
    schema: toArgumentsSchema(parameters),
    packages: undefined,
    imports: [],
  };
}

/** Returns parameters for undeclared `$1`, `$2`, …, under these names: PostgreSQL infers their types at each run. */
function createInferredParameters(statements: SqlStatement[], declared: Parameter[]): Parameter[] {
  const known = new Set(declared.map(({ placeholder }) => placeholder));
  const used = statements.flatMap(({ parts }) =>
    parts.flatMap((part) => (typeof part === "string" ? [] : [part.placeholder])),
  );
  const names = [...new Set(used)].filter((placeholder) => !known.has(placeholder));
  names.sort((a, b) => Number(a.slice(1)) - Number(b.slice(1)));
  return names.map((name) => ({ name, kind: "named", placeholder: name, optional: false, schema: {} }));
}

function parseStatements(content: string, dialect: SqlDialect): SqlStatement[] {
  try {
    return splitStatements(content, dialect);
  } catch (cause) {
    if (cause instanceof StatementFault) throw new SyntaxFault(cause.line, 1, cause.message);
    throw cause;
  }
}

/** Rejects undeclared placeholders, which would otherwise be null. */
function requireDeclaredPlaceholders(statements: SqlStatement[], declared: Parameter[]): void {
  const known = new Set(declared.map(({ placeholder }) => placeholder));
  const unnamed = declared.filter(({ placeholder }) => placeholder === "?").length;
  let used = 0;
  for (const { line, parts } of statements) {
    for (const part of parts) {
      if (typeof part === "string") continue;
      const { placeholder } = part;
      if (placeholder === "?") used++;
      if (placeholder === "?" ? used > unnamed : !known.has(placeholder)) {
        const how = placeholder.startsWith(":")
          ? `-- ${placeholder} (type)`
          : `-- ${placeholder} name (type)`;
        throw new SyntaxFault(line, 1, `${placeholder} is not declared: add a line \`${how}\``);
      }
    }
  }
}
