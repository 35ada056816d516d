import t from 'tap'
import { ApiDocumentWriter, type ApiDescription } from '../../src/api-document/document-writer.ts'
import { OPERATIONS } from '../../src/operations/all.ts'
import { isRecord } from '../../src/request/value.ts'

const DESCRIPTION: ApiDescription = {
  title: 'Engine default',
  version: '7.24',
  basePath: '/engine-rest',
  schemes: ['basic', 'bearer'],
  release: null,
  hasIdempotencyKeys: true,
}
const ALL = new Set(OPERATIONS.map(({ id }) => id))

function documentOf(ids: ReadonlySet<string>, description: Partial<ApiDescription> = {}) {
  const text = new ApiDocumentWriter(OPERATIONS, { ...DESCRIPTION, ...description }).write(ids)
  const document: unknown = JSON.parse(text)
  return { text, document }
}

function valueAt(value: unknown, ...names: readonly string[]): unknown {
  return names.reduce<unknown>((found, name) => (isRecord(found) ? found[name] : undefined), value)
}

t.test('the document has each operation once, with its method and path', (t) => {
  const { document } = documentOf(ALL)
  for (const { id, method, template } of OPERATIONS) {
    const path = template.replaceAll(/:(\w+)/g, '{$1}')
    t.equal(valueAt(document, 'paths', path, method.toLowerCase(), 'operationId'), id)
  }
  t.end()
})

t.test('every reference leads to a part of the document, and every schema is referred to', (t) => {
  const { text, document } = documentOf(new Set(['getTasks', 'queryTasks', 'complete']))
  const references = new Set([...text.matchAll(/"\$ref":"#\/([^"]+)"/g)].map(([, path = '']) => path))
  for (const path of references) t.not(valueAt(document, ...path.split('/')), undefined, path)
  const schemas = valueAt(document, 'components', 'schemas')
  for (const name of Object.keys(isRecord(schemas) ? schemas : {}))
    t.ok(references.has(`components/schemas/${name}`), name)
  t.notMatch(text, /BatchDto/, 'schemas of other operations are left out')
  t.end()
})

t.test('an operation has the names and types of the published API, and the texts of the gateway', (t) => {
  const { document } = documentOf(ALL)
  const complete = valueAt(document, 'paths', '/task/{id}/complete', 'post')
  t.match(complete, {
    summary: /\.$/,
    description: /`TASK_WORK` on task `\{id\}`/,
    requestBody: {
      content: { 'application/json': { schema: { $ref: '#/components/schemas/CompleteTaskDto' } } },
    },
    responses: {
      200: {
        content: {
          'application/json': {
            schema: {
              type: 'object',
              additionalProperties: { $ref: '#/components/schemas/VariableValueDto' },
            },
          },
        },
      },
      204: { description: 'No content' },
      default: { $ref: '#/components/responses/Error' },
    },
  })
  t.match(valueAt(document, 'components', 'schemas', 'TaskDto', 'properties', 'assignee'), {
    type: 'string',
    nullable: true,
  })
  t.end()
})

t.test('dates have no format, because the zone of the dates of the engine has no colon', (t) => {
  const { text } = documentOf(ALL)
  t.notMatch(text, /"date-time"/)
  t.match(text, /#\/components\/schemas\/EngineDate/)
  t.end()
})

function namesIn(release: ApiDescription['release']): string {
  return JSON.stringify(valueAt(documentOf(ALL, { release }).document, 'paths', '/task', 'get', 'parameters'))
}

t.test('parameters of other releases are left out', (t) => {
  t.match(namesIn('Camunda 7.24'), /taskDefinitionKeyNotIn/)
  t.notMatch(namesIn('Camunda 7.22'), /taskDefinitionKeyNotIn/)
  t.match(namesIn(null), /taskDefinitionKeyNotIn/)
  t.end()
})

function parametersWith(hasIdempotencyKeys: boolean): unknown {
  return valueAt(documentOf(ALL, { hasIdempotencyKeys }).document, 'paths', '/message', 'post', 'parameters')
}

t.test('an Idempotency-Key is described if the gateway uses it', (t) => {
  t.same(parametersWith(true), [{ $ref: '#/components/parameters/IdempotencyKey' }])
  t.equal(parametersWith(false), undefined)
  t.end()
})
