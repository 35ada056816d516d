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
<header><h1>${title}</h1><p>${marked(textAt(info, 'description'))}</p></header>
<main>
${[...sections].map(([tag, parts]) => `<section><h2>/${escaped(tag)}</h2>\n${parts.join('\n')}</section>`).join('\n')}
<section><h2>Schemas</h2>
${schemas.join('\n')}</section>
</main>
</body>
</html>
`
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
  return `<details id="${id}"><summary><code><span class="method">${method.toUpperCase()}</span>${escaped(path)}</code> ${marked(textAt(operation, 'summary'))}</summary>
<div><p>${marked(textAt(operation, 'description'))}</p>
<p class="quiet">${id}</p>
${parameters.length === 0 ? '' : `<table><tr><th>parameter<th>in<th>type${parameters.join('')}</table>`}
${body === '' ? '' : `<p>Body: ${body}</p>`}
<table><tr><th>response<th>${responses.join('')}</table></div></details>`
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
  return `<details id="${escaped(name)}"><summary><code>${escaped(name)}</code></summary>
<div>${description === '' ? '' : `<p>${marked(description)}</p>`}<table>${members.join('')}</table></div></details>`
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
