/** Finds the free names of an expression: those not declared inside of it. */
import type {
  CallExpression,
  Identifier,
  MemberExpression,
  Node,
  OptionalMemberExpression,
} from "@babel/types";
import { findDeclaredNames, isFunction, listChildNodes } from "./bindings.ts";

/**
 * Free name → members read of it (`results.a`, `results["a"]`, `results?.a`), or "all" for any other use: `results[x]`,
 * `f(results)`, and `results.map(…)`, since a method sees the whole object. JavaScript's own names (Math, undefined)
 * are included.
 */
export type Mentions = ReadonlyMap<string, readonly string[] | "all">;

/**
 * A call `name(…)` of a free name that can be awaited implicitly: it is outside of inner functions, and no promise
 * method is chained to it. Offsets refer to the text.
 */
export interface FreeCall {
  name: string;
  start: number;
  end: number;
  /** The call starts a statement. */
  startsStatement: boolean;
}

export interface Names {
  mentions: Mentions;
  calls: FreeCall[];
}

export function findNames(root: Node): Names {
  const finder = new NameFinder();
  finder.visit(root);
  return { mentions: finder.mentions, calls: finder.calls };
}

class NameFinder {
  readonly mentions = new Map<string, string[] | "all">();
  readonly calls: FreeCall[] = [];
  private readonly scopes: Set<string>[] = [];
  private readonly statements = new Set<number>();
  private functions = 0;

  visit(node: Node): void {
    const declared = findDeclaredNames(node);
    if (declared) this.scopes.push(declared);
    const inner = isFunction(node) || node.type === "ClassBody";
    if (inner) this.functions++;
    this.visitPlain(node);
    if (inner) this.functions--;
    if (declared) this.scopes.pop();
  }

  private visitPlain(node: Node): void {
    switch (node.type) {
      case "Identifier":
        this.mention(node, "all");
        break;
      case "MemberExpression":
      case "OptionalMemberExpression":
        this.visitMember(node);
        break;
      case "CallExpression":
        this.noteCall(node);
        this.visitCall(node.callee, node);
        break;
      case "OptionalCallExpression":
        this.visitCall(node.callee, node);
        break;
      case "TaggedTemplateExpression":
        this.visitCall(node.tag, node);
        break;
      case "AwaitExpression":
        this.visitPromise(node.argument);
        break;
      case "LabeledStatement":
        this.visit(node.body);
        break;
      case "PrivateName":
      case "MetaProperty":
      case "BreakStatement":
      case "ContinueStatement":
        break;
      default:
        this.visitChildren(node);
    }
  }

  private visitChildren(node: Node): void {
    if (node.type === "ExpressionStatement") this.statements.add(node.start!);
    // Keys are property names, unless computed.
    const key = "key" in node && "computed" in node && !node.computed ? node.key : undefined;
    for (const child of listChildNodes(node)) if (child !== key) this.visit(child);
  }

  private visitMember(node: MemberExpression | OptionalMemberExpression): void {
    const { object, property, computed } = node;
    const member = findStaticName(property, computed ?? false);
    if (object.type === "Identifier" && member !== undefined) this.mention(object, [member]);
    else this.visit(object);
    if (computed) this.visit(property);
  }

  /** A method may use the whole object it is called on. */
  private visitCall(callee: Node, call: Node): void {
    const method = callee.type === "MemberExpression" || callee.type === "OptionalMemberExpression";
    if (method && isPromiseMethod(callee)) this.visitPromise(callee.object);
    else if (method) this.visit(callee.object);
    for (const child of listChildNodes(call)) if (!method || child !== callee) this.visit(child);
    if (method && callee.computed) this.visit(callee.property);
  }

  /** A value used as a promise is not awaited implicitly. */
  private visitPromise(node: Node): void {
    if (node.type === "CallExpression") this.visitCall(node.callee, node);
    else this.visit(node);
  }

  private noteCall({ callee, start, end }: CallExpression): void {
    if (this.functions > 0 || callee.type !== "Identifier" || this.isDeclared(callee.name)) return;
    this.calls.push({
      name: callee.name,
      start: start!,
      end: end!,
      startsStatement: this.statements.has(start!),
    });
  }

  private mention({ name }: Identifier, members: string[] | "all"): void {
    if (this.isDeclared(name)) return;
    const known = this.mentions.get(name) ?? [];
    if (known === "all" || members === "all") this.mentions.set(name, "all");
    else this.mentions.set(name, [...new Set([...known, ...members])]);
  }

  private isDeclared(name: string): boolean {
    return this.scopes.some((scope) => scope.has(name));
  }
}

function isPromiseMethod({ property, computed }: MemberExpression | OptionalMemberExpression): boolean {
  return ["then", "catch", "finally"].includes(findStaticName(property, computed ?? false) ?? "");
}

/** Returns the member's name if it is literal. */
export function findStaticName(property: Node, computed: boolean): string | undefined {
  if (!computed) return property.type === "Identifier" ? property.name : undefined;
  if (property.type === "StringLiteral") return property.value;
  if (property.type === "NumericLiteral") return String(property.value);
  const plain = property.type === "TemplateLiteral" && property.expressions.length === 0;
  return plain ? (property.quasis[0]!.value.cooked ?? undefined) : undefined;
}
