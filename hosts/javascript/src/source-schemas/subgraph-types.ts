/**
 * Finds the subgraphs of graphs in a project's source. The type of a graph does not say what its nodes are; the calls
 * of `addNode` do.
 */
import ts from 'typescript-5';
import { type GraphTypes, graphTypesOf } from './langgraph-types.ts';

/** Nobody nests graphs deeper; a graph that contains itself ends here. */
const DEPTH_MAX = 8;

/** Returns subgraph types by namespace: the names of the nodes from the outermost graph inwards, joined by `|`. */
export function subgraphTypesOf(exported: ts.Symbol, checker: ts.TypeChecker): Map<string, GraphTypes> {
  const found = new Map<string, GraphTypes>();
  collect(exported, '', 0);
  return found;

  function collect(graph: ts.Symbol, prefix: string, depth: number): void {
    if (depth === DEPTH_MAX) return;
    for (const [name, node] of nodesOf(graph, checker)) {
      for (const identifier of identifiersIn(node)) {
        const symbol = declared(checker.getSymbolAtLocation(identifier), checker);
        const types = symbol && graphTypesOf(checker.getTypeAtLocation(identifier), checker);
        if (!types || found.has(prefix + name)) continue;
        found.set(prefix + name, types);
        collect(symbol, `${prefix}${name}|`, depth + 1);
      }
    }
  }
}

/**
 * Returns every `addNode(name, node)` that makes the graph: at its declaration, and where its builder is used in the
 * same file.
 */
function nodesOf(graph: ts.Symbol, checker: ts.TypeChecker): [string, ts.Expression][] {
  const nodes: [string, ts.Expression][] = [];
  const seen = new Set<ts.Symbol>();
  visitSymbol(graph);
  return nodes;

  function visitSymbol(symbol: ts.Symbol): void {
    if (seen.has(symbol)) return;
    seen.add(symbol);
    for (const declaration of symbol.declarations ?? []) {
      visit(declaration);
      // `const builder = new StateGraph(…); builder.addNode(…)` adds nodes in separate statements.
      forEachNode(declaration.getSourceFile(), (node) => {
        if (ts.isCallExpression(node) && declared(symbolOfChain(node), checker) === symbol) visit(node);
      });
    }
  }

  function visit(root: ts.Node): void {
    forEachNode(root, (node) => {
      if (!ts.isCallExpression(node) || !ts.isPropertyAccessExpression(node.expression)) return;
      const [name, action] = node.arguments;
      if (node.expression.name.text === 'addNode' && name && action && ts.isStringLiteralLike(name)) {
        if (!nodes.some(([known, at]) => known === name.text && at === action)) nodes.push([name.text, action]);
      }
      const builder = declared(symbolOfChain(node), checker);
      if (builder) visitSymbol(builder);
    });
  }

  /** Returns the symbol of `a` in `a.b().c()`. */
  function symbolOfChain(call: ts.CallExpression): ts.Symbol | undefined {
    let expression: ts.Expression = call;
    while (ts.isCallExpression(expression) || ts.isPropertyAccessExpression(expression) || isWrapper(expression)) {
      expression = expression.expression;
    }
    if (!ts.isIdentifier(expression)) return undefined;
    const symbol = checker.getSymbolAtLocation(expression);
    const isGraph = symbol && graphTypesOf(checker.getTypeAtLocation(expression), checker);
    return isGraph ? symbol : undefined;
  }
}

/** Returns whether the node is `(a as B)`, `a!` or `a satisfies B`, which still mean `a`. */
function isWrapper(
  node: ts.Node,
): node is ts.ParenthesizedExpression | ts.AsExpression | ts.NonNullExpression | ts.SatisfiesExpression {
  return (
    ts.isParenthesizedExpression(node) ||
    ts.isAsExpression(node) ||
    ts.isNonNullExpression(node) ||
    ts.isSatisfiesExpression(node)
  );
}

/** Returns the symbol at its declaration, not at its import or export. */
function declared(symbol: ts.Symbol | undefined, checker: ts.TypeChecker): ts.Symbol | undefined {
  if (!symbol) return undefined;
  return symbol.flags & ts.SymbolFlags.Alias ? checker.getAliasedSymbol(symbol) : symbol;
}

function identifiersIn(expression: ts.Expression): ts.Identifier[] {
  const identifiers: ts.Identifier[] = [];
  forEachNode(expression, (node) => {
    if (ts.isIdentifier(node)) identifiers.push(node);
  });
  return identifiers;
}

function forEachNode(root: ts.Node, look: (node: ts.Node) => void): void {
  look(root);
  ts.forEachChild(root, (child) => forEachNode(child, look));
}
