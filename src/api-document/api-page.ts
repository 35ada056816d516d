import { isRecord } from '../request/value.ts'
import { API_PAGE_STYLE } from './api-page-style.ts'

type Json = Readonly<Record<string, unknown>>

/** Writes an OpenAPI document of the gateway as a page that needs no script and no other file. */
export function apiPageOf(text: string): string {
  const document: unknown = JSON.parse(text)
  const info = objectAt(document, 'info')
  const components = objectAt(document, 'components')
  const sections = new Map<string, string[]>()
  for (const [path, item] of Object.entries(objectAt(document, 'paths')))
    for (const [method, operation] of Object.entries(isRecord(item) ? item : {})) {
      if (method === 'parameters' || !isRecord(operation)) continue
      const [tag] = listAt(operation, 'tags').map(String)
      const section = sections.get(tag ?? '') ?? []
      sections.set(tag ?? '', section)
      section.push(operationHtml({ path, method, operation, ofPath: listAt(item, 'parameters'), components }))
    }
  const title = escaped(textAt(info, 'title'))
  const schemas = Object.entries(objectAt(components, 'schemas')).map(([name, schema]) =>
    schemaHtml(name, schema),
  )
  return `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title}</title>
<link rel="icon" href="data:,">
<style>${API_PAGE_STYLE}</style>
<body>
<a class="skip" href="#operations">Skip to the operations</a>
<header><h1>${title}</h1><p>${marked(textAt(info, 'description'))}</p></header>
<nav aria-label="Sections"><ul>${[...sections.keys(), SCHEMAS].map(navigationHtml).join('')}</ul></nav>
<main id="operations" tabindex="-1">
${[...sections].map(([tag, parts]) => sectionHtml(tag, parts)).join('\n')}
${sectionHtml(SCHEMAS, schemas)}
</main>
</body>
</html>
`
}

const SCHEMAS = 'Schemas'

function navigationHtml(tag: string): string {
  return `<li><a href="#${sectionId(tag)}">${titleOf(tag)}</a>`
}

function sectionHtml(tag: string, parts: readonly string[]): string {
  const id = sectionId(tag)
  return `<section aria-labelledby="${id}"><h2 id="${id}">${titleOf(tag)}</h2>\n${parts.join('\n')}</section>`
}

/** Operations and schemas have ids without a colon. */
function sectionId(tag: string): string {
  return `section:${escaped(tag)}`
}

function titleOf(tag: string): string {
  return tag === SCHEMAS ? tag : `/${escaped(tag)}`
}

interface PageOperation {
  readonly path: string
  readonly method: string
  readonly operation: Json
  /** The parameters of the path. */
  readonly ofPath: readonly unknown[]
  readonly components: Json
}

function operationHtml({ path, method, operation, ofPath, components }: PageOperation): string {
  const id = escaped(textAt(operation, 'operationId'))
  const parameters = [...ofPath, ...listAt(operation, 'parameters')].map((parameter) =>
    parameterHtml(resolved(parameter, components)),
  )
  const body = contentHtml(resolved(operation['requestBody'], components))
  const responses = Object.entries(objectAt(operation, 'responses')).map(
    ([status, response]) =>
      `<tr><td>${escaped(status)}<td>${responseHtml(status, resolved(response, components))}`,
  )
  return `<details><summary><code><span class="method">${method.toUpperCase()}</span> ${escaped(path)}</code> ${marked(textAt(operation, 'summary'))}</summary>
<div id="${id}"><p>${marked(textAt(operation, 'description'))}</p>
<p class="quiet">${id}</p>
${parameters.length === 0 ? '' : tableHtml(['parameter', 'in', 'type'], parameters)}
${body === '' ? '' : `<p>Body: ${body}</p>`}
${tableHtml(['response', 'body'], responses)}</div></details>`
}

function parameterHtml(parameter: unknown): string {
  const isRequired = isRecord(parameter) && parameter['required'] === true
  return `<tr><td><code>${escaped(textAt(parameter, 'name'))}</code>${isRequired ? ' (required)' : ''}<td>${escaped(textAt(parameter, 'in'))}<td>${typeHtml(objectAt(parameter, 'schema'))}`
}

/** Errors have a text instead of their schema, which is always the same. */
function responseHtml(status: string, response: unknown): string {
  const content = status === 'default' ? '' : contentHtml(response)
  return content === '' ? escaped(textAt(response, 'description')) : content
}

function contentHtml(holder: unknown): string {
  return Object.entries(objectAt(holder, 'content'))
    .map(([media, of]) => `${escaped(media)}: ${typeHtml(objectAt(of, 'schema'))}`)
    .join('<br>')
}

function schemaHtml(name: string, schema: unknown): string {
  const members = Object.entries(objectAt(schema, 'properties')).map(
    ([member, of]) => `<tr><td><code>${escaped(member)}</code><td>${typeHtml(of)}`,
  )
  const description = textAt(schema, 'description')
  return `<details><summary><code>${escaped(name)}</code></summary>
<div id="${escaped(name)}">${description === '' ? '' : `<p>${marked(description)}</p>`}${members.length === 0 ? '' : tableHtml(['member', 'type'], members)}</div></details>`
}

function tableHtml(columns: readonly string[], rows: readonly string[]): string {
  const heads = columns.map((column) => `<th scope="col">${column}`)
  return `<table><tr>${heads.join('')}${rows.join('')}</table>`
}

function typeHtml(schema: unknown): string {
  const reference = textAt(schema, '$ref')
  if (reference !== '') {
    const name = escaped(reference.split('/').at(-1) ?? '')
    return `<a href="#${name}">${name}</a>`
  }
  const [part] = listAt(schema, 'allOf')
  if (part !== undefined) return typeHtml(part)
  const items = objectAt(schema, 'items')
  if (textAt(schema, 'type') === 'array') return `list of ${typeHtml(items)}`
  const values = objectAt(schema, 'additionalProperties')
  if (Object.keys(values).length > 0) return `object of ${typeHtml(values)}`
  const permitted = listAt(schema, 'enum').filter((value) => typeof value === 'string')
  if (permitted.length > 0) return permitted.map((value) => `<code>${escaped(value)}</code>`).join(', ')
  return escaped(
    [textAt(schema, 'type') || 'any', textAt(schema, 'format')].filter((word) => word !== '').join(' '),
  )
}

/** Returns the component that a value refers to, or the value itself. */
function resolved(value: unknown, components: Json): unknown {
  const reference = textAt(value, '$ref')
  if (reference === '') return value
  const [, , kind = '', name = ''] = reference.split('/')
  return objectAt(objectAt(components, kind), name)
}

function objectAt(value: unknown, name: string): Json {
  const found = isRecord(value) ? value[name] : undefined
  return isRecord(found) ? found : {}
}

function listAt(value: unknown, name: string): readonly unknown[] {
  const found = isRecord(value) ? value[name] : undefined
  return Array.isArray(found) ? found : []
}

function textAt(value: unknown, name: string): string {
  const found = isRecord(value) ? value[name] : undefined
  return typeof found === 'string' ? found : ''
}

function escaped(text: string): string {
  return text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;')
}

/** Converts the parts of Markdown that the texts of the gateway use: code and lists. */
function marked(text: string): string {
  return escaped(text)
    .replaceAll(/`([^`]*)`/g, '<code>$1</code>')
    .replaceAll('\n- ', '<br>– ')
}
