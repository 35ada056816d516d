import { isMapping } from './mapping.ts'

/** Sections that are off if they are null, and for which `{}` is enough. */
const SECTIONS = ['mcp', 'apiDocument'] as const

/**
 * Returns a problem for each section without content. YAML reads `mcp:` as null, which switches the section off, although its author
 * wants it. A written `null` is no problem.
 */
export function emptySectionProblems(content: string, value: unknown): readonly string[] {
  if (!isMapping(value)) return []
  return SECTIONS.filter((name) => value[name] === null && isEmptyIn(content, name)).map(
    (name) => `${name}: is empty, so it has no effect: write ${name}: {} or leave it out`,
  )
}

function isEmptyIn(content: string, name: string): boolean {
  return new RegExp(`^${name}:[ \\t]*(?:#.*)?\\r?$`, 'm').test(content)
}
