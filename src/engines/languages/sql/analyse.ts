import { type Parameter, type ScriptAnalysis, SyntaxFault, toArgumentsSchema } from "../types.ts";
import { databaseParameter, declaredParameters } from "./comments.ts";
import { type Dialect, type Statement, StatementFault, splitStatements } from "./statements.ts";

/** Arguments by the comments; what the statements mean is the database's matter. @throws SyntaxFault */
export function analyseSql(content: string, dialect: Dialect): ScriptAnalysis {
  const declared = declaredParameters(content, dialect);
  checkPlaceholders(statementsOf(content, dialect), declared);
  const database = databaseParameter(content, {
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

function statementsOf(content: string, dialect: Dialect): Statement[] {
  try {
    return splitStatements(content, dialect);
  } catch (cause) {
    if (cause instanceof StatementFault) throw new SyntaxFault(cause.line, 1, cause.message);
    throw cause;
  }
}

/** A placeholder nobody declared would be filled with nothing. */
function checkPlaceholders(statements: Statement[], declared: Parameter[]): void {
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
