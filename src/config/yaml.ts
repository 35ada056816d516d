import { type Document, type ErrorCode, LineCounter, parseDocument, visit } from 'yaml'
import { parsePlainYaml } from './plain-yaml.ts'

/** The value of a text, or its problems by line and column. Problems never contain the content, which may be a secret. */
export type YamlParseResult =
  | { readonly value: unknown; readonly problems: null }
  | { readonly problems: readonly string[] }

export function readYaml(text: string): YamlParseResult {
  const plain = parsePlainYaml(text)
  return plain === null ? readAnyYaml(text) : { ...plain, problems: null }
}

/** Parses any YAML text with the library. */
export function readAnyYaml(text: string): YamlParseResult {
  const lines = new LineCounter()
  // The library would print warnings with the content.
  const document = parseDocument(text, { prettyErrors: false, lineCounter: lines, logLevel: 'error' })
  // Only the first error is used, because the parser misreads the text after it.
  const syntaxErrors = document.errors.slice(0, 1).map(({ code, message, pos }) => ({
    at: pos[0],
    message: isPlaceholder(text, pos[0]) ? UNQUOTED : (OWN_MESSAGES[code] ?? withoutQuote(message)),
  }))
  const all = syntaxErrors.length > 0 ? syntaxErrors : strayAliases(document)
  if (all.length > 0)
    return {
      problems: all.map(({ at, message }) => {
        const { line, col } = lines.linePos(at)
        return `line ${line}, column ${col}: ${message}`
      }),
    }
  try {
    return { value: document.toJS(), problems: null }
  } catch {
    return { problems: ['the aliases (*name) expand to too much content'] }
  }
}

/** Messages for errors whose text in the library contains a part of the file, or does not say what to do. */
const OWN_MESSAGES: Partial<Readonly<Record<ErrorCode, string>>> = {
  ALIAS_PROPS: 'a value that begins with * needs quotes',
  BAD_ALIAS: 'a value that begins with * or & needs quotes',
  BAD_COLLECTION_TYPE: 'a value that begins with ! needs quotes',
  BAD_DIRECTIVE: 'a line that begins with % is not supported here',
  BLOCK_IN_FLOW: 'a list with - or an indented section is not possible within braces or brackets',
  BLOCK_AS_IMPLICIT_KEY: 'the indentation is wrong, or a value that contains ": " needs quotes',
  MULTILINE_IMPLICIT_KEY: 'a space is missing after a colon, or the indentation is wrong',
  RESOURCE_EXHAUSTION: 'the nesting is too deep',
  TAG_RESOLVE_FAILED: 'a value that begins with ! needs quotes',
}

const UNQUOTED = 'a ${…} within braces or brackets needs quotes: "${VAR}"'

/**
 * Returns whether an error is at a `${VAR}`. Within open braces or brackets, YAML takes the brace of `${VAR}` for the start of a
 * map.
 */
function isPlaceholder(text: string, at: number): boolean {
  return text[at] === '{' && text[at - 1] === '$'
}

/** Removes the content with which a parser ends some of its messages: `Unexpected scalar token in YAML stream: "hunter2"`. */
function withoutQuote(message: string): string {
  return message.replace(/(?<=\w)[:;] .*$| \\.*$/s, '')
}

/** Returns aliases without an anchor. A password that begins with `*` is parsed as an alias. */
function strayAliases(document: Document): readonly { readonly at: number; readonly message: string }[] {
  const at: number[] = []
  visit(document, {
    Alias: (_, alias) => {
      if (alias.resolve(document) === undefined) at.push(alias.range?.[0] ?? 0)
    },
  })
  return at.map((one) => ({
    at: one,
    message: 'the alias (*name) has no anchor (&name): quote a value that begins with *',
  }))
}
